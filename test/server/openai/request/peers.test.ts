import { describe, expect, test } from "vitest"
import { parseMessages } from "../../../../server/anthropic/fields.ts"
import { Refusal } from "../../../../server/errors.ts"
import { defaultBodyLimits, parseBody } from "../../../../server/http/body.ts"
import { parseChat } from "../../../../server/openai/chat/schema.ts"
import { parseCompletion } from "../../../../server/openai/completions/completionfields.ts"
import { parseResponse } from "../../../../server/openai/responses/fields.ts"

const bodyOf = (fields: object) =>
  parseBody(new TextEncoder().encode(JSON.stringify({ model: "m", ...fields })), defaultBodyLimits)
const messages = [{ role: "user", content: "x" }]
const endpoints = {
  chat: (fields: object) => parseChat(bodyOf({ messages, ...fields })),
  completions: (fields: object) => parseCompletion(bodyOf({ prompt: "x", ...fields })),
  responses: (fields: object) => parseResponse(bodyOf({ input: "x", ...fields })).response,
  messages: (fields: object) => parseMessages(bodyOf({ messages, max_tokens: 5, ...fields })),
}

function refusalOf(fields: object, endpoint: keyof typeof endpoints = "chat"): Refusal {
  try {
    endpoints[endpoint](fields)
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
  throw new Error(`${JSON.stringify(fields)} is served`)
}

test.each<[peers: object, own: object]>([
  [{ repeat_penalty: 1.3 }, { repetition_penalty: 1.3, penalty_window: 64 }],
  [
    { repeat_penalty: 1.3, repeat_last_n: 8 },
    { repetition_penalty: 1.3, penalty_window: 8 },
  ],
  [
    { repeat_penalty: 1.3, repeat_last_n: -1 },
    { repetition_penalty: 1.3, penalty_window: 2 ** 53 - 1 },
  ],
  [
    { repeat_penalty: 1.3, frequency_penalty: 1, penalty_last_n: 0 },
    { frequency_penalty: null, penalty_window: 64 },
  ],
  [{ repeat_last_n: 64 }, { penalty_window: 64 }],
  [
    { repeat_penalty: 1.3, repetition_penalty: 1.3 },
    { repetition_penalty: 1.3, penalty_window: 64 },
  ],
  [{ typ_p: 0.9 }, { typical_p: 0.9 }],
  [{ typical: 0.9, typ_p: 0.9 }, { typical_p: 0.9 }],
  [{ typ_p: null }, {}],
  [{ nsigma: 1.5 }, { top_n_sigma: 1.5 }],
  [
    { mirostat_mode: 2, mirostat_ent: 4, mirostat_lr: 0.2 },
    { mirostat: 2, mirostat_tau: 4, mirostat_eta: 0.2 },
  ],
  [{ dry_penalty_last_n: 10 }, { dry_last_n: 10 }],
  [{ banned_strings: ["a"] }, { bad_words: ["a"] }],
  [{ min_new_tokens: 2 }, { min_tokens: 2 }],
  [{ no_stop_trim: true }, { include_stop_str_in_output: true }],
  [{ temp: 0.3 }, { temperature: 0.3 }],
  [{ random_seed: 7 }, { seed: 7 }],
  [{ do_sample: false, temperature: 0.7 }, { temperature: 0 }],
  [{ do_sample: true, temperature: 0.7 }, { temperature: 0.7 }],
  [{ num_beams: 4 }, { use_beam_search: true, beam_width: 4 }],
  [{ num_beams: 1, penalty_alpha: 0 }, {}],
  [
    { temperature_last: true },
    {
      sampler_order: [
        ...["penalties", "dry", "top_n_sigma", "min_p", "top_k", "typical_p", "top_p", "xtc", "temperature"],
      ],
    },
  ],
  [{ min_keep: 0, tfs_z: 1, top_a: 0, options: {}, cfg_scale: 1, lora: [], penalize_nl: true }, {}],
])("%j is read as %j by all endpoints", (peers, own) => {
  for (const parse of Object.values(endpoints)) {
    const read = parse(peers)
    expect(read.options).toEqual(parse(own).options)
    expect(read.ignored).toEqual([])
  }
})

test.each<[keyof typeof endpoints, peers: object, own: object]>([
  ["chat", { n_predict: 9 }, { max_completion_tokens: 9 }],
  ["chat", { num_predict: -1 }, {}],
  ["chat", { max_output_tokens: 9 }, { max_tokens: 9 }],
  ["chat", { num_return_sequences: 3 }, { n: 3 }],
  ["chat", { reasoning_budget: 7 }, { thinking_token_budget: 7 }],
  ["chat", { stop_sequences: ["a"] }, { stop: ["a"] }],
  ["completions", { max_new_tokens: 9, stopping_strings: ["a"] }, { max_tokens: 9, stop: ["a"] }],
  ["completions", { n_predict: -1 }, { max_tokens: 2 ** 53 - 1 }],
  ["responses", { num_predict: 9 }, { max_output_tokens: 9 }],
  ["messages", { num_predict: 5, stop_sequence: "a" }, { stop_sequences: ["a"] }],
])("%s reads %j as %j", (endpoint, peers, own) => {
  expect(endpoints[endpoint](peers).options).toEqual(endpoints[endpoint](own).options)
})

describe("samplers", () => {
  const off = {
    repetitionPenalty: 1,
    frequencyPenalty: 0,
    presencePenalty: 0,
    dryMultiplier: 0,
    topNSigma: 0,
  }
  const named = { top_k: 5, top_p: 0.5, min_p: 0.1, temperature: 0.2, repetition_penalty: 2 }
  test.each([
    [["top_k"], "k"],
    [["top-k"], "k"],
  ])("%j is %j: what is not named is off", (names, letters) => {
    const read = endpoints.chat({ ...named, samplers: names }).options
    expect(read).toMatchObject({ ...off, topK: 5, topP: 1, minP: 0, temperature: 1 })
    expect(read.samplerOrder?.[0]).toBe("top_k")
    expect([...read.samplerOrder!].length).toBe(9)
    expect(endpoints.chat({ ...named, samplers: letters }).options).toEqual(read)
  })

  test.each([
    [["min_p", "adaptive_p"], "ma"],
    [["adaptive-p", "min_p"], "am"],
  ])("%j: adaptive-p comes last, and is off where it is not named", (names, letters) => {
    const fields = { ...named, adaptive_target: 0.4 }
    for (const samplers of [names, letters]) {
      expect(endpoints.chat({ ...fields, samplers }).options).toMatchObject({
        minP: 0.1,
        adaptiveTarget: 0.4,
      })
    }
    expect(endpoints.chat({ ...fields, samplers: ["min_p"] }).options.adaptiveTarget).toBe(undefined)
  })

  test("the order is that of the names, and the penalties see llama.cpp's window", () => {
    const names = ["temperature", "nucleus", "typ_p", "penalties"]
    const read = endpoints.chat({ ...named, samplers: names }).options
    expect(read.samplerOrder?.slice(0, 4)).toEqual(["temperature", "top_p", "typical_p", "penalties"])
    expect(read).toMatchObject({
      topK: 0,
      topP: 0.5,
      temperature: 0.2,
      repetitionPenalty: 2,
      penaltyWindow: 64,
    })
  })

  test.each([
    [["infill"], 'samplers: "infill" is none of penalties, dry'],
    ["kz", 'samplers: "z" is none of e, d, s'],
    [["top_k", "top-k"], 'samplers: "top-k" is named twice'],
    [7, "samplers: 7 is not a list of names"],
  ])("%j is refused", (samplers, message) => {
    const refusal = refusalOf({ samplers })
    expect([refusal.details.param, refusal.message]).toEqual(["samplers", expect.stringContaining(message)])
  })
})

test.each<[fields: object, param: string, hint: string]>([
  [{ min_keep: 2 }, "min_keep", "Use min_p"],
  [{ tfs_z: 0.9 }, "tfs_z", "Use min_p"],
  [{ top_a: 0.2 }, "top_a", "Use min_p"],
  [{ smoothing_factor: 0.2 }, "smoothing_factor", "temperature"],
  [{ dynatemp_low: 0.2 }, "dynatemp_low", "dynatemp_range"],
  [{ penalize_nl: false }, "penalize_nl", "logit_bias"],
  [{ encoder_repetition_penalty: 1.1 }, "encoder_repetition_penalty", "repetition_penalty"],
  [{ guidance_scale: 1.5 }, "guidance_scale", "guidance"],
  [{ penalty_alpha: 0.6, top_k: 4 }, "penalty_alpha", "hidden states"],
  [{ ban_eos_token: true }, "ban_eos_token", "ignore_eos"],
  [{ num_ctx: 4096 }, "num_ctx", "--context"],
  [{ options: { temperature: 0 } }, "options", "top level"],
  [{ topP: 0.5 }, "topP", "top_p"],
  [{ "top-k": 5 }, "top-k", "top_k"],
  [{ repeat_penalty: 1.3, repetition_penalty: 1.1 }, "repeat_penalty", "repetition_penalty"],
  [{ typ_p: 0.5, typical_p: 0.9 }, "typ_p", "typical_p"],
  [{ samplers: ["top_k"], sampler_order: "llamacpp" }, "samplers", "Send one"],
  [{ do_sample: "no" }, "do_sample", ""],
])("%j is refused by its name, with a way out", (fields, param, hint) => {
  for (const endpoint of Object.keys(endpoints) as (keyof typeof endpoints)[]) {
    const refusal = refusalOf(fields, endpoint)
    expect([refusal.details.param, refusal.details.hint ?? ""]).toEqual([
      param,
      expect.stringContaining(hint),
    ])
  }
})

test("an endpoint without such a field refuses the name; what has no law is ignored", () => {
  expect(refusalOf({ num_return_sequences: 2 }, "responses").details.param).toBe("num_return_sequences")
  expect(endpoints.chat({ favourite: 1 }).ignored).toEqual(["favourite"])
})
