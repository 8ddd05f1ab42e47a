import { type BodyLimits, HeldBytes, parseBody, type RequestBody, readBytes } from "../../server/http/body.ts"

/** Reads and checks the JSON body of one request alone. Throws `Refusal`. */
export async function readBody(request: Request, limits: BodyLimits): Promise<RequestBody> {
  return parseBody(await readBytes(request, limits.maxBytes, new HeldBytes(limits)), limits)
}
