/**
 * The blocks of a style: the ways to begin each part of one, for the tools of a turn.
 */
import type { BudgetPart } from "../../budget.ts"
import type { RuleId, Rules } from "../../ebnf/rules.ts"
import type { Term } from "../../ebnf/terms.ts"
import { GrammarError } from "../../errors.ts"
import type { Step } from "../../frame.ts"
import type { Grammar } from "../../grammar.ts"
import { type ArgumentOptions, type Arguments, jsonArguments, openArguments } from "./arguments.ts"
import { beforeEnd, literalTerm } from "./literal.ts"
import { callTerm, type Filling, wireTerm } from "./lower.ts"
import { type ParameterForms, parameterForms } from "./parameterforms.ts"
import { parameterArguments } from "./parameters.ts"
import type { Plan } from "./plan.ts"
import type { Block, Style } from "./style.ts"
import type { Tool } from "./tools.ts"
import { beginnings, holds, named, type Wire } from "./wire.ts"

const nothing: Wire = []

export class CallBlocks {
  readonly blocks: readonly Block[]
  /** Whether the text of a call contains its number. */
  readonly areNumbered: boolean
  /** The budgets of the parts made so far. */
  readonly budgets: BudgetPart[] = []
  private readonly rules: Rules
  private readonly tools: readonly CallableTool[]
  private readonly known = new Map<string, readonly Step[]>()

  /** Compiles all tools; refuses those that cannot be called. */
  constructor(rules: Rules, plan: Plan, options: ArgumentOptions) {
    const { blocks } = plan
    const { controls } = plan.style
    this.rules = rules
    this.blocks = blocks
    this.areNumbered = blocks.some(({ call }) => holds(call, "index"))
    const forms = blocks.map(({ parameter }) =>
      parameter === undefined ? null : parameterForms(rules, parameter, controls),
    )
    // A raw value ends at its end mark wherever that occurs, so strings inside other values must
    // not contain it either.
    const ends = forms.flatMap((form) => form?.excludes ?? [])
    const excludes = [...new Set([...(options.excludes ?? []), ...controls, ...ends])]
    this.tools = plan.calls.tools.map((tool) => {
      return new CallableTool(openArguments(tool, { ...options, excludes }), forms, plan.callsBefore)
    })
    for (const tool of this.tools) for (const [i, { call }] of blocks.entries()) tool.check(call, i)
    for (const tool of plan.calls.tools) refuseLikeMessage(tool, plan.style)
  }

  /**
   * Returns the beginning of block `at` and its first call, which has the number `index`. With
   * `hasLead` the block's lead may come first.
   */
  first(at: number, index: number, hasLead: boolean): readonly Step[] {
    return this.steps(`first ${at} ${index} ${hasLead}`, () => {
      const { lead, begin = nothing } = this.blocks[at]
      const { terms } = this.rules
      const isLed = hasLead && lead !== undefined
      const before = isLed ? terms.or([terms.empty, literalTerm(this.rules, lead)]) : terms.empty
      return terms.concat(before, wireTerm(this.rules, begin), this.call(at, index))
    })
  }

  /** Returns what separates two calls of block `at`, and the second call. */
  next(at: number, index: number): readonly Step[] {
    return this.steps(`next ${at} ${index}`, () => {
      const between = wireTerm(this.rules, this.blocks[at].between ?? nothing)
      return this.rules.terms.concat(between, this.call(at, index))
    })
  }

  /**
   * Returns the end of block `at`, up to a token that ends the whole text in this vocabulary; null
   * if the block has no end mark.
   */
  end(at: number): readonly Step[] | null {
    const { end } = this.blocks[at]
    if (end === undefined) return null
    return this.steps(`end ${at}`, () => wireTerm(this.rules, this.beforeEnd(end) ?? end))
  }

  /**
   * Returns whether a call of block `at` ends with a token that ends the whole text in this
   * vocabulary.
   */
  endsText(at: number): boolean {
    return this.beforeEnd(this.blocks[at].call) !== null
  }

  /** Returns the ways to begin a term. They are made once for each key. */
  steps(key: string, make: () => Term): readonly Step[] {
    let steps = this.known.get(key)
    if (steps === undefined) {
      const rule: RuleId = this.rules.declare(key)
      this.rules.define(rule, [], make)
      const grammar = this.rules.grammar(rule, { key: () => key, title: key })
      steps = grammar?.start ?? []
      if (grammar !== null) this.budgets.push(...grammar.budgets)
      this.known.set(key, steps)
    }
    return steps
  }

  private call(at: number, index: number): Term {
    const { call } = this.blocks[at]
    const fillings = this.tools.map((tool) => tool.filling(at, index))
    return callTerm(this.rules, this.beforeEnd(call) ?? call, fillings)
  }

  private beforeEnd(form: Wire): Wire | null {
    const last = form[form.length - 1]
    if (last.kind !== "text") return null
    const text = beforeEnd(this.rules, last.text)
    return text === null ? null : [...form.slice(0, -1), { kind: "text", text }]
  }
}

/**
 * Refuses a tool whose call begins like a message of the style, because it would be read as one. An
 * example is a tool named like the user, in styles whose messages name their recipient.
 */
function refuseLikeMessage({ name, path }: Tool, { blocks, messages }: Style): void {
  if (messages === undefined) return
  const { reasoning, remark = reasoning, answer } = messages
  const texts = blocks.flatMap(({ begin = nothing, call }) => beginnings(named([...begin, ...call], name)))
  const like = [reasoning, remark, answer].find(({ begin }) => texts.some((text) => text.startsWith(begin)))
  if (like === undefined) return
  throw new GrammarError(
    "unsupported",
    `${path.slice(0, path.lastIndexOf("/"))}/name`,
    `a call of the tool "${name}" begins as a message does in this style: ${JSON.stringify(like.begin)}. Rename it`,
  )
}

class CallableTool {
  private readonly args: Arguments
  private readonly forms: readonly (ParameterForms | null)[]
  private readonly callsBefore: number
  private json: Grammar | null = null
  private readonly parameters: (Grammar | undefined)[] = []

  constructor(args: Arguments, forms: readonly (ParameterForms | null)[], callsBefore: number) {
    this.args = args
    this.callsBefore = callsBefore
    this.forms = forms
  }

  /** Throws if the tool cannot be called in block `at`. */
  check(call: Wire, at: number): void {
    const { json, parameters } = this.filling(at, 0)
    if (holds(call, "json")) json()
    else parameters()
  }

  filling(at: number, index: number): Filling {
    return {
      name: this.args.tool.name,
      index,
      callsBefore: this.callsBefore,
      json: () => {
        this.json ??= jsonArguments(this.args)
        return this.json
      },
      parameters: () => {
        this.parameters[at] ??= parameterArguments(this.args, this.forms[at] as ParameterForms)
        return this.parameters[at]
      },
    }
  }
}
