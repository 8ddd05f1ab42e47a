/** A disk that fills up soon, where this process has the right to mount one. */
import { spawnSync } from "node:child_process"
import { mkdirSync } from "node:fs"

/** Runs `work` with a disk of so many bytes at `path`. Whether it could be mounted. */
export async function withSmallDisk(
  path: string,
  bytes: number,
  work: () => Promise<void>,
): Promise<boolean> {
  mkdirSync(path)
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${bytes}`, "tmpfs", path])
  if (status !== 0) return false
  try {
    await work()
  } finally {
    spawnSync("umount", [path])
  }
  return true
}
