/** What Python's Jinja writes, over small templates; and what only our side can say. */
import { expect, test } from "vitest"
import { strftime } from "../../../../runtime/model/jinja/strftime.ts"
import { Template } from "../../../../runtime/model/jinja/template.ts"
import { TemplateError } from "../../../../runtime/model/jinja/value.ts"
import { ChatTemplate } from "../../../../runtime/model/template.ts"
import { templateCases, templateMessages, templateNames } from "../../../support/templates.ts"

test.each(templateCases)("%s", (_, source, text) => {
  const template = new ChatTemplate(new Map([["default", source]]), {})
  const render = () => template.render(templateMessages, { variables: templateNames })
  if (text === null) expect(render).toThrow()
  else expect(render()).toBe(text)
})

test.each([
  ["a\n{% if %}", "line 2: unexpected %}"],
  ["a\r\n\r\n{{ 1 2 }}", "line 3: }} is expected, not 2"],
  ["{% if true %}x", "line 1: {% endif %} is missing"],
  ["{% extends 'x' %}", "line 1: {% extends %} is not a tag of chat templates"],
  ["{{ 'a }}", 'line 1: unexpected "\'"'],
  ["{{ (1] }}", 'line 1: unexpected "]"'],
  ["{# a", "line 1: a comment has no end"],
  ["{{ 1", "line 1: {{ has no end"],
])("%j: %s", (source, message) => {
  expect(() => new Template(source)).toThrow(new TemplateError(message))
})

test("a macro without an end fails as any other mistake does", () => {
  const template = new Template("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}")
  expect(() => template.render({})).toThrow(new TemplateError("maximum recursion depth exceeded"))
})

test("a range is bounded", () => {
  expect(() => new Template("{{ range(1000000) | length }}").render({})).toThrow(/Range too big/)
})

test("strftime", () => {
  const date = new Date(2026, 1, 3, 15, 4, 5, 6)
  expect(strftime(date, "%d %b %Y|%-d %B|%Y-%m-%d %H:%M:%S|%I:%M %p|%A %a %j %y %e %%|%F %T|%Q")).toBe(
    "03 Feb 2026|3 February|2026-02-03 15:04:05|03:04 PM|Tuesday Tue 034 26  3 %|2026-02-03 15:04:05|%Q",
  )
})
