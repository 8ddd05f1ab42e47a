/** VitePress's own theme, with room for wide tables. */
import theme from "vitepress/theme"
import "./style.css"

export default theme
