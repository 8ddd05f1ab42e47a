import { request as httpRequest } from "node:http"
import { afterEach, expect, test } from "vitest"
import { createFetch, ListenError, type RunningServer, serve } from "../../server/serve.ts"

const servers: RunningServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})
async function start(...args: Parameters<typeof serve>): Promise<RunningServer> {
  const server = await serve(...args)
  servers.push(server)
  return server
}
const hello = { fetch: () => new Response("hello") }

function status(port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ port, host: "127.0.0.1", headers: { host } }, (response) => {
      response.resume()
      resolve(response.statusCode!)
    })
    request.on("error", reject).end()
  })
}

test("serves the application and says where", async () => {
  const { url, port } = await start(hello, { port: 0 })
  expect(url).toBe(`http://127.0.0.1:${port}`)
  expect(await (await fetch(url)).text()).toBe("hello")
})

test("a loopback address answers only to loopback names and those it is told", async () => {
  const { port } = await start(hello, { port: 0, allowHosts: ["box.example"] })
  for (const host of ["localhost", "127.0.0.1:1234", "[::1]:80", "app.localhost", "box.example:99"]) {
    expect(await status(port, host), host).toBe(200)
  }
  for (const host of ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8080"]) {
    expect(await status(port, host), host).toBe(403)
  }
})

test("a port in use is an error that names it and the way out", async () => {
  const { port } = await start(hello, { port: 0 })
  const second = serve(hello, { port })
  await expect(second).rejects.toBeInstanceOf(ListenError)
  await expect(second).rejects.toThrow(
    `127.0.0.1:${port} is in use by another program. Stop it, or choose another port with --port`,
  )
})

test("closing lets a running reply finish within its time and cuts it off after", async () => {
  const slow = {
    fetch: () =>
      new Response(
        new ReadableStream({
          async start(controller) {
            controller.enqueue(new TextEncoder().encode("begin "))
            await new Promise((resolve) => setTimeout(resolve, 300))
            controller.enqueue(new TextEncoder().encode("end"))
            controller.close()
          },
        }),
      ),
  }
  const patient = await serve(slow, { port: 0 })
  const finished = await fetch(patient.url)
  await patient.close({ drainMs: 5000 })
  expect(await finished.text()).toBe("begin end")
  await expect(fetch(patient.url)).rejects.toThrow()
  const hasty = await serve(slow, { port: 0 })
  const cut = await fetch(hasty.url)
  await hasty.close({ drainMs: 20 })
  await expect(cut.text()).rejects.toThrow()
})

test("createFetch rejects as the global fetch does when its signal fires", async () => {
  const never = createFetch({ fetch: () => new Promise<Response>(() => {}) })
  const controller = new AbortController()
  const response = never("http://localhost/", { signal: controller.signal })
  controller.abort()
  await expect(response).rejects.toMatchObject({ name: "AbortError" })
  await expect(never("http://localhost/", { signal: AbortSignal.abort() })).rejects.toMatchObject({
    name: "AbortError",
  })
})

test("createFetch ends the body, too, when its signal fires", async () => {
  const endless = new ReadableStream({
    async pull(stream) {
      await new Promise((resolve) => setTimeout(resolve, 1))
      stream.enqueue(new Uint8Array(1))
    },
  })
  const controller = new AbortController()
  const response = await createFetch({ fetch: () => new Response(endless) })("http://localhost/", controller)
  setTimeout(() => controller.abort(), 20)
  await expect(response.arrayBuffer()).rejects.toMatchObject({ name: "AbortError" })
})
