/**
 * Counts the bytes that cross between host and device, at the device's own calls, so that nothing
 * that a library does is missed.
 */

import type { DeviceTraffic, Traffic } from "../model.ts"

type Sums = { -readonly [key in keyof Traffic]: number }

/** Counts the traffic of all devices of a thread. Create it before they are used. */
export class TrafficCounter {
  /** The side that uses the device now. */
  side: keyof DeviceTraffic = "model"
  private readonly model = none()
  private readonly sampler = none()

  constructor() {
    const [queue, device, buffer] = [GPUQueue.prototype, GPUDevice.prototype, GPUBuffer.prototype]
    const current = (): Sums => this[this.side]
    const { writeBuffer } = queue
    queue.writeBuffer = function (to, offset, data, at = 0, size) {
      const unit = "BYTES_PER_ELEMENT" in data ? Number(data.BYTES_PER_ELEMENT) : 1
      current().uploadedBytes += size === undefined ? data.byteLength - at * unit : size * unit
      return writeBuffer.call(this, to, offset, data as ArrayBuffer, at, size)
    }
    const { createBuffer } = device
    device.createBuffer = function (descriptor) {
      if (descriptor.mappedAtCreation) current().uploadedBytes += descriptor.size
      return createBuffer.call(this, descriptor)
    }
    const { mapAsync } = buffer
    buffer.mapAsync = function (this: GPUBuffer, mode, offset = 0, size = this.size - offset) {
      const sums = current()
      if (mode === GPUMapMode.READ) sums.readBytes += size
      else sums.uploadedBytes += size
      if (mode === GPUMapMode.READ) sums.maps++
      return mapAsync.call(this, mode, offset, size)
    }
  }

  get sums(): DeviceTraffic {
    return { model: { ...this.model }, sampler: { ...this.sampler } }
  }
}

function none(): Sums {
  return { uploadedBytes: 0, readBytes: 0, maps: 0 }
}
