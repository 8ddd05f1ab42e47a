/**
 * Names of the platform that the types of this package use, for programs that compile without the
 * types of the DOM, of Node or of WebGPU. They merge with those where they are there, so that
 * nothing is declared twice; where they are missing they are empty.
 */
declare global {
  interface AbortSignal {}
  interface GPUBuffer {}
  interface GPUDevice {}
  interface GPUComputePassTimestampWrites {}
}

export {}
