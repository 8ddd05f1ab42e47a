/**
 * Lists of token ids in a request. A list of a million bad ids makes one error, that of the first.
 */
import { z } from "zod"
import { quote } from "../../http/quote.ts"

export const tokenIds = z
  .array(z.unknown())
  .superRefine((ids, context) => {
    const index = ids.findIndex((id) => !Number.isSafeInteger(id) || (id as number) < 0)
    if (index < 0) return
    const message = `${quote(ids[index])} is not a token id, which is a whole number`
    context.addIssue({ code: "custom", path: [index], message })
  })
  .transform((ids) => ids as number[])
  .nullish()
