/**
 * Repetitions of bodies that contain assertions.
 *
 * A repetition drops iterations that read nothing, as ECMAScript does. So its body is split into
 * the part that reads and the conditions under which it may match without reading.
 */
import { fixedBounds, limitError } from "../../../errors.ts"
import { and, anyText, concat, loop, or } from "../build.ts"
import {
  at,
  Empty,
  type ExprId,
  flags,
  Inherited,
  isNullable,
  isSurelyNullable,
  Kind,
  kindOf,
  members,
  Never,
  Unbounded,
} from "../nodes.ts"
import { anyChar } from "../sets.ts"

/**
 * Repeats a body with assertions N | E, where N consumes and E holds or not without consuming.
 * Fewer than `min` iterations of N are enough if E holds at some place between them.
 */
export function repeat(body: ExprId, min: number, max: number): ExprId {
  if ((flags(body) & Inherited) === 0 || min > max || max === 0) return loop(body, min, max)
  const consuming = consumingPart(body)
  const idle = idlePart(body)
  if (consuming === Never) return min === 0 ? Empty : idle
  const certain = isSurelyNullable(idle)
  if (min === 0 || certain) return loop(consuming, 0, max)
  if (idle === Never) return loop(consuming, min, max)
  if (min > fixedBounds.unrolled) throw limitError(fixedBounds, "unrolled", min)
  const options = [loop(consuming, min, max)]
  for (let before = 0; before < min; before++) {
    options.push(concat(loop(consuming, before, before), concat(idle, loop(consuming, 0, min - 1 - before))))
  }
  return or(options)
}

/** Returns the texts of `id` that read at least one byte. */
function consumingPart(id: ExprId): ExprId {
  switch (kindOf(id)) {
    case Kind.Never:
    case Kind.Empty:
    case Kind.Look:
    case Kind.Behind:
    case Kind.End:
      return Never
    case Kind.Concat: {
      const [head, tail] = [at(id, 1), at(id, 2)]
      return or([concat(consumingPart(head), tail), concat(idlePart(head), consumingPart(tail))])
    }
    case Kind.Or:
      return or(members(id).map(consumingPart))
    case Kind.Loop:
      // Bodies with assertions already consume. Others may contain ε, which the first iteration
      // must not take.
      if (flags(at(id, 1)) & Inherited) return loop(at(id, 1), Math.max(1, at(id, 2)), at(id, 3))
      if (at(id, 2) > 0) return id
      return concat(
        consumingPart(at(id, 1)),
        loop(at(id, 1), 0, at(id, 3) === Unbounded ? Unbounded : at(id, 3) - 1),
      )
    case Kind.Set:
      return id
    default:
      return isNullable(id) ? and([id, concat(anyChar, anyText)]) : id
  }
}

/** Returns what must hold for `id` to match without reading a byte. */
function idlePart(id: ExprId): ExprId {
  switch (kindOf(id)) {
    case Kind.Look:
    case Kind.Behind:
    case Kind.End:
      return id
    case Kind.Concat:
      return concat(idlePart(at(id, 1)), idlePart(at(id, 2)))
    case Kind.Or:
      return or(members(id).map(idlePart))
    default:
      return isNullable(id) ? Empty : Never
  }
}
