/**
 * The pages that may call: those of this machine, those of this server, and those of the configured
 * origins.
 *
 * A browser names the page that sends a request in the `Origin` header. Requests of foreign pages
 * are refused before any work is done, so that a page cannot use up the model by requests whose
 * replies it may not read. Requests without `Origin` do not come from a browser. Credentials are
 * not allowed: a key travels in the `authorization` header, so a page must know it.
 */

import { errorResponse, Refusal } from "../errors.ts"
import { isLocalName } from "./access.ts"

const exposed = [
  ...["x-request-id", "retry-after", "retry-after-ms", "openai-processing-ms", "x-tokenrail-ignored"],
  ...["limit", "remaining", "reset"].flatMap((what) =>
    ["requests", "tokens"].map((of) => `x-ratelimit-${what}-${of}`),
  ),
].join(", ")

/**
 * Returns the headers that let a page read the reply, or null if the request comes from no page.
 * Throws `Refusal` (403).
 */
export function corsHeaders(request: Request, origins: readonly string[]): Record<string, string> | null {
  const origin = request.headers.get("origin")
  if (origin === null) return null
  if (!isAllowed(origin, request, origins)) {
    throw new Refusal("forbidden", `origin ${JSON.stringify(origin)} is not allowed`, {
      hint: "Start the server with --cors and the origin, or *",
    })
  }
  return {
    "access-control-allow-origin": origins.includes("*") ? "*" : origin,
    "access-control-expose-headers": exposed,
    vary: "origin",
  }
}

/** Returns the reply to a browser's preflight request, or null for all other requests. */
export function preflight(request: Request, origins: readonly string[]): Response | null {
  const method = request.headers.get("access-control-request-method")
  if (request.method !== "OPTIONS" || method === null) return null
  try {
    const headers = corsHeaders(request, origins)
    if (headers === null) return null
    const wanted = request.headers.get("access-control-request-headers")
    return new Response(null, {
      status: 204,
      headers: {
        ...headers,
        "access-control-allow-methods": "GET, POST, DELETE",
        // Clients send headers of their own, such as x-stainless-os.
        ...(wanted !== null && { "access-control-allow-headers": wanted }),
        "access-control-max-age": "600",
      },
    })
  } catch (error) {
    return errorResponse(error)
  }
}

function isAllowed(origin: string, request: Request, origins: readonly string[]): boolean {
  if (origins.includes("*") || origins.includes(origin)) return true
  if (!URL.canParse(origin)) return false
  const { hostname, host } = new URL(origin)
  return isLocalName(hostname) || host === request.headers.get("host")
}
