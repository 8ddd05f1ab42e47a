/**
 * Different values for positions with finite domains: a bipartite matching (Hall 1935; Kuhn 1955).
 *
 * Positions with the same domain are interchangeable, so a domain holds values, and a search for an
 * augmenting path goes from domain to domain and examines each once. A value that a matching holds
 * can be spared iff its domain can take another one instead, which is reachability from the values
 * that no domain holds (Berge 1957).
 */

/** A domain, with the position of its search for free values. */
interface Domain {
  readonly values: readonly number[]
  /** Values before this index are held or excluded: they never become free again. */
  next: number
}

export class DistinctValues {
  private readonly domains = new Map<readonly number[], Domain>()
  private readonly holders = new Map<number, Domain>()
  private readonly taken: ReadonlySet<number>
  private readonly spend: (work: number) => void

  /** `taken` are the excluded values. `spend` receives the number of values examined. */
  constructor(taken: ReadonlySet<number>, spend: (work: number) => void) {
    this.taken = taken
    this.spend = spend
  }

  /**
   * Finds a value for one more position. Returns false if there is none. Equal domains are the same
   * list.
   */
  place(values: readonly number[]): boolean {
    let start = this.domains.get(values)
    if (start === undefined) {
      start = { values, next: 0 }
      this.domains.set(values, start)
    }
    /**
     * By domain: the domain `from` that reached it, and the value that it holds and `from` could
     * use.
     */
    const reached = new Map<Domain, { from: Domain; value: number } | null>([[start, null]])
    for (const domain of reached.keys()) {
      if (this.free(domain) !== undefined) {
        this.shift(domain, reached)
        return true
      }
      this.spend(domain.values.length)
      for (const value of domain.values) {
        const holder = this.holders.get(value)
        if (holder !== undefined && !reached.has(holder)) reached.set(holder, { from: domain, value })
      }
    }
    return false
  }

  /** Returns the values that every matching of the positions placed so far needs. */
  needed(): number[] {
    const domainsOf = new Map<number, Domain[]>()
    const heldBy = new Map<Domain, number[]>()
    const flexible = new Set<Domain>()
    for (const domain of this.domains.values()) {
      this.spend(domain.values.length)
      if (this.free(domain) !== undefined) flexible.add(domain)
      for (const value of domain.values) {
        const holder = this.holders.get(value)
        if (holder === undefined) continue
        const domains = domainsOf.get(value)
        if (domains === undefined) domainsOf.set(value, [domain])
        else domains.push(domain)
      }
    }
    for (const [value, holder] of this.holders) {
      const held = heldBy.get(holder)
      if (held === undefined) heldBy.set(holder, [value])
      else held.push(value)
    }
    // A domain that can take another value can spare each of its own. A domain that can use one of
    // those can then take another value, too.
    for (const domain of flexible)
      for (const value of heldBy.get(domain) ?? [])
        for (const other of domainsOf.get(value) ?? []) flexible.add(other)
    return [...this.holders].filter(([, holder]) => !flexible.has(holder)).map(([value]) => value)
  }

  /** Returns a value of `domain` that no domain holds. */
  private free(domain: Domain): number | undefined {
    const { values } = domain
    while (domain.next < values.length && this.isUsed(values[domain.next])) domain.next++
    return values[domain.next]
  }

  private isUsed(value: number): boolean {
    return this.taken.has(value) || this.holders.has(value)
  }

  /**
   * Gives `last` its free value, and passes each value on the path back to the domain that reached
   * it.
   */
  private shift(last: Domain, reached: ReadonlyMap<Domain, { from: Domain; value: number } | null>): void {
    let domain = last
    let value = this.free(last) as number
    for (let step = reached.get(domain); ; step = reached.get(domain)) {
      this.holders.set(value, domain)
      if (!step) return
      domain = step.from
      value = step.value
    }
  }
}
