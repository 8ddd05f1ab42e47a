/**
 * Platform names that the types of this package use, for programs that compile without the types of
 * the DOM, of Node or of WebGPU. If those types are present, these declarations merge with them and
 * declare nothing twice; if not, they are empty types.
 */
declare global {
  interface AbortSignal {}
  interface GPUBuffer {}
  interface GPUDevice {}
  interface GPUComputePassTimestampWrites {}
}

export {}
