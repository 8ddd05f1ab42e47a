/**
 * The members that we use of a package whose own declarations import without extensions: under
 * `nodenext` all its exports would silently be `any`. A declared module wins over the package's.
 * None of these types is public.
 */

declare module "@huggingface/tokenizers" {
  export class Tokenizer {
    constructor(tokenizer: object, config: object)
    encode(text: string, options?: { add_special_tokens?: boolean }): { ids: number[]; tokens: string[] }
    /** A sequence, where the file has one. */
    readonly normalizer: {
      normalizers: { readonly config: { type: string }; normalize: (text: string) => string }[]
    } | null
  }
}
