/**
 * `thinking` and `output_config.effort`: how much the model thinks before the answer, and how much
 * of the thoughts the reply shows.
 *
 * If a request has neither field, the model's template decides whether the model thinks, as at
 * Anthropic. A request with thoughts sets the template's variable; a request without thoughts gets
 * a grammar that excludes them.
 */
import { z } from "zod"
import type { GenerateOptions } from "../../runtime/index.ts"
import { invalid } from "../errors.ts"

const display = z.enum(["summarized", "omitted"]).nullish()

export const thinking = z.discriminatedUnion(
  "type",
  [
    z.looseObject({ type: z.literal("enabled"), budget_tokens: z.int().min(1), display }),
    z.looseObject({ type: z.literal("adaptive"), display }),
    z.looseObject({ type: z.literal("disabled") }),
  ],
  { error: "type must be enabled, adaptive or disabled" },
)

export const outputConfig = z.strictObject({
  effort: z.enum(["low", "medium", "high", "xhigh", "max"]).nullish(),
  // Read by constraint.ts.
  format: z.unknown().optional(),
  // The budget for a task of many requests is only information for the model.
  task_budget: z.unknown().optional(),
})

export interface ThinkingRequest {
  options: Pick<GenerateOptions, "reasoningEffort" | "thinkingTokenBudget">
  /** Variables for the chat template. */
  variables: Readonly<Record<string, unknown>>
  /** Whether the reply shows the thoughts; if not, it only says that there were some. */
  showsThinking: boolean
}

/**
 * Returns the settings for thoughts. Throws `Refusal` if their budget leaves no tokens for the
 * answer.
 */
export function readThinking(
  asked: z.infer<typeof thinking> | null | undefined,
  effort: string | null,
  maxTokens: number | null,
): ThinkingRequest {
  if (asked?.type === "disabled") {
    return { options: { reasoningEffort: "none" }, variables: {}, showsThinking: true }
  }
  const budget = asked?.type === "enabled" ? asked.budget_tokens : null
  if (budget !== null && maxTokens !== null && budget >= maxTokens) {
    const param = "thinking.budget_tokens"
    throw invalid(param, `: ${budget} uses up max_tokens ${maxTokens}`, "Send a budget below max_tokens")
  }
  return {
    options: {
      ...(effort !== null && { reasoningEffort: effort }),
      ...(budget !== null && { thinkingTokenBudget: budget }),
    },
    variables: asked ? { enable_thinking: true } : {},
    showsThinking: asked?.display !== "omitted",
  }
}
