/**
 * The site of docs/. It loads nothing from elsewhere, and searches in the browser.
 * `DOCS_BASE=/path/` builds it for a path below the root of its host. The build fails where a link
 * leads nowhere.
 */
import { readFileSync } from "node:fs"
import { relative, resolve } from "node:path"
import { defineConfig } from "vitepress"
import { menuTitles, sections } from "./sections.ts"

const repository = "https://github.com/tokenrail/tokenrail"
const root = resolve(import.meta.dirname, "../..")

/** Returns the title that a page has for menus, or its first heading. */
function titleOf(page) {
  const text = readFileSync(resolve(root, "docs", `${page}.md`), "utf8")
  const [, title] = /^title: (.*)$/m.exec(text.slice(0, 200)) ?? /^# (.*)$/m.exec(text)
  return title.replaceAll("`", "")
}

/** Links to files of the repository beside docs/ lead to its host, as they do there. */
function asOnTheHost(md) {
  const render =
    md.renderer.rules.link_open ??
    ((tokens, index, options, _, self) => self.renderToken(tokens, index, options))
  md.renderer.rules.link_open = (tokens, index, options, env, self) => {
    const href = tokens[index].attrGet("href") ?? ""
    if (href.startsWith("../")) {
      const [path, hash] = href.split("#")
      const file = relative(root, resolve(root, "docs", path))
      if (!file.startsWith("docs/"))
        tokens[index].attrSet("href", `${repository}/blob/main/${file}${hash ? `#${hash}` : ""}`)
    }
    return render(tokens, index, options, env, self)
  }
  // Braces in a text would be an expression of the site's templates.
  md.renderer.rules.text = (tokens, index) =>
    md.utils.escapeHtml(tokens[index].content).replaceAll("{{", "&#123;&#123;")
}

export default defineConfig({
  title: "Tokenrail",
  description:
    "Makes a language model write only what a JSON Schema, a regular expression or a grammar allows.",
  base: process.env.DOCS_BASE ?? "/",
  cleanUrls: false,
  lastUpdated: false,
  ignoreDeadLinks: false,
  markdown: {
    config: asOnTheHost,
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
  },
  themeConfig: {
    search: { provider: "local" },
    outline: { level: [2, 3] },
    sidebar: Object.entries(sections).map(([text, pages]) => ({
      text,
      collapsed: false,
      items: pages.map((page) => ({
        text: menuTitles[page] ?? titleOf(page),
        link: page === "index" ? "/" : `/${page}`,
      })),
    })),
    socialLinks: [{ icon: "github", link: repository }],
  },
})
