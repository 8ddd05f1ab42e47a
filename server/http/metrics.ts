/**
 * `GET /metrics`: the counters of the server and its engine in the format of Prometheus.
 *
 * Requests are counted here. The engine's counters are read when metrics are requested, so its
 * steps pay nothing for them. Labels are only routes, statuses and kinds, so clients cannot create
 * new series. Each application has a registry of its own.
 */
import { Counter, Gauge, Histogram, Registry } from "prom-client"
import { type Distribution, decades } from "../../runtime/engine/distribution.ts"
import type { Engine } from "../../runtime/index.ts"
import type { Outcome } from "./exchange.ts"

export class Metrics {
  private readonly registry = new Registry()
  private readonly requests = this.counter("requests_total", "Requests by route and status.", [
    ...["endpoint", "status"],
  ])
  private readonly refusals = this.counter("refusals_total", "Refused requests by kind or code.", ["kind"])
  private readonly seconds = new Histogram({
    name: "tokenrail_request_seconds",
    help: "Time from a request to the end of its reply, by route.",
    labelNames: ["endpoint"],
    buckets: decades(1e-3, 100),
    registers: [this.registry],
  })

  constructor(engine: Engine) {
    const { metrics } = engine
    this.gauge("queue_depth", "Answers that wait for a slot.", () => engine.load().waiting)
    this.gauge("running", "Answers in a slot.", () => engine.load().running)
    this.gauge("slots", "Answers that run at once.", () => engine.load().slots)
    this.gauge("kv_tokens", "Tokens that running answers hold in the cache.", () => engine.cacheLoad().used)
    this.gauge("kv_size_tokens", "Tokens that the cache has room for.", () => engine.cacheLoad().size)
    this.gauge("states", "States of the cached constraints.", () => engine.stateCount)
    this.sums("tokens_total", "Tokens by kind.", "kind", () => ({
      prompt: metrics.promptTokens,
      cached: metrics.cachedTokens,
      completion: metrics.completionTokens,
      reasoning: metrics.reasoningTokens,
      forced: metrics.forcedTokens,
      draft_accepted: metrics.acceptedTokens,
      draft_rejected: metrics.draftedTokens - metrics.acceptedTokens,
    }))
    this.sum("model_runs_total", "Runs of the model's graph.", () => engine.modelWork().runs)
    this.sums(
      "model_places_total",
      "Tokens that the model computed, and unneeded rows between them.",
      "kind",
      () => {
        const { places, placesInVain } = engine.modelWork()
        return { wanted: places - placesInVain, in_vain: placesInVain }
      },
    )
    this.countDevice(engine)
    this.sums(
      "compile_cache_total",
      "Requested constraints, by whether the cache had them.",
      "result",
      () => ({
        hit: metrics.compileHits,
        miss: metrics.compileMisses,
      }),
    )
    this.sum(
      "aborts_total",
      "Answers that ended because their client had gone.",
      () => metrics.finished.abort,
    )
    this.sum("closed_total", "Constrained answers completed by their budget.", () => metrics.closed)
    const { ttft, tpot, mask, maskWait } = metrics.seconds
    this.spread("ttft_seconds", "Time from admission to the first token.", () => [[{}, ttft]])
    this.spread("tpot_seconds", "Time per token after the first, averaged over a request.", () => [
      [{}, tpot],
    ])
    this.spread("mask_seconds", "Time to fill one mask.", () => [[{}, mask]])
    this.spread("mask_wait_seconds", "Time for which logits were ready and the mask was not.", () => [
      [{}, maskWait],
    ])
    this.spread("compile_seconds", "Time to compile a constraint, by its kind.", () =>
      [...metrics.compileSeconds].map(([input, times]) => [{ input }, times]),
    )
  }

  record({ endpoint, status, ms, refusal }: Outcome): void {
    this.requests.inc({ endpoint, status: String(status) })
    this.seconds.observe({ endpoint }, ms / 1000)
    if (refusal) this.refusals.inc({ kind: refusal.kind ?? refusal.code })
  }

  async response(): Promise<Response> {
    const { contentType } = this.registry
    return new Response(await this.registry.metrics(), { headers: { "content-type": contentType } })
  }

  /** Registers the traffic of the device that model and sampler share; without one, no values. */
  private countDevice(engine: Engine): void {
    this.sums(
      "device_bytes_total",
      "Bytes between host and device, by what they are for and their direction.",
      "kind",
      (): Record<string, number> => {
        const traffic = engine.deviceTraffic()
        if (!traffic) return {}
        const { model, sampler } = traffic
        return {
          model_up: model.uploadedBytes,
          model_down: model.readBytes,
          sampler_up: sampler.uploadedBytes,
          sampler_down: sampler.readBytes,
        }
      },
    )
  }

  private counter(name: string, help: string, labelNames: string[]): Counter<string> {
    return new Counter({ name: `tokenrail_${name}`, help, labelNames, registers: [this.registry] })
  }

  private gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      ...{ name: `tokenrail_${name}`, help, registers: [this.registry] },
      collect() {
        this.set(read())
      },
    })
  }

  /** Registers a counter whose value is kept elsewhere. */
  private sum(name: string, help: string, read: () => number): void {
    this.register(name, help, "counter", () => [{ labels: {}, value: read() }])
  }

  private sums(name: string, help: string, label: string, read: () => Record<string, number>): void {
    this.register(name, help, "counter", () =>
      Object.entries(read()).map(([key, value]) => ({ labels: { [label]: key }, value })),
    )
  }

  /** Registers distributions that are kept elsewhere. */
  private spread(name: string, help: string, read: () => [Labels, Distribution][]): void {
    this.register(name, help, "histogram", () =>
      read().flatMap(([labels, times]) => cumulated(`tokenrail_${name}`, labels, times)),
    )
  }

  /**
   * Registers a metric. The package's own classes cannot be set to a value that was counted
   * elsewhere, so an object with the three members that its registry uses replaces them.
   */
  private register(name: string, help: string, type: "counter" | "histogram", read: () => Value[]): void {
    const metric = { name: `tokenrail_${name}`, get: async () => ({ ...metric, help, type, values: read() }) }
    this.registry.registerMetric(metric as unknown as Counter)
  }
}

type Labels = Record<string, string | number>

interface Value {
  metricName?: string
  labels: Labels
  value: number
}

/**
 * Returns a histogram as Prometheus writes it: for each bound the count of all values up to it,
 * then the sum and the count.
 */
function cumulated(name: string, labels: Labels, { bounds, counts, sum }: Distribution): Value[] {
  let count = 0
  const classes = [...counts].map((inClass, at) => {
    count += inClass
    return { metricName: `${name}_bucket`, labels: { ...labels, le: bounds[at] ?? "+Inf" }, value: count }
  })
  return [
    ...classes,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ]
}
