/**
 * `GET /docs`: the description of the server as a page, on which each example can be sent.
 *
 * The page is Swagger UI, whose script and style the build copies into the package. The server
 * sends all of its files itself, so the page works without a network, and its policy forbids the
 * browser to load anything from elsewhere. References are relative, so a proxy may add a prefix.
 */
import { Refusal } from "../errors.ts"
import { quote } from "../http/quote.ts"

/** Pictures inside the style are data URLs. */
const policy = "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tokenrail</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="page"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/page.js"></script>
</body>
</html>
`

// Without a validator's URL the page would ask a public server to check the document.
const script = `SwaggerUIBundle({ url: "openapi.json", dom_id: "#page", deepLinking: true, validatorUrl: null })
`

/** Media types of the files of the page, by their names in the path. */
export const pageFiles: Readonly<Record<string, string>> = {
  "page.js": "text/javascript; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
  "swagger-ui.css": "text/css; charset=utf-8",
}

/** Returns the page. */
export function docsPage(): Response {
  return reply(page, "text/html; charset=utf-8")
}

/**
 * Returns a file of the page. Rejects with `Refusal` (404) if the page has no such file, or if the
 * package has not been built.
 */
export async function docsFile(name: string): Promise<Response> {
  if (!Object.hasOwn(pageFiles, name)) {
    throw new Refusal("not_found", `${quote(name)} is not a file of the page`)
  }
  const type = pageFiles[name]
  if (name === "page.js") return reply(script, type)
  try {
    // Loaded here, since a browser has no files.
    const [{ readFile }, { packageFile }] = await Promise.all([
      import("node:fs/promises"),
      import("../../runtime/files.ts"),
    ])
    return reply(await readFile(packageFile(`dist/server/openapi/page/${name}`)), type)
  } catch {
    const hint = "Run npm run build; /openapi.json needs no build"
    throw new Refusal("not_found", `the file ${name} of the page is not there`, { hint })
  }
}

function reply(body: string | Uint8Array<ArrayBuffer>, type: string): Response {
  return new Response(body, {
    headers: {
      "content-type": type,
      "content-security-policy": policy,
      "x-content-type-options": "nosniff",
      "cache-control": "max-age=3600",
    },
  })
}
