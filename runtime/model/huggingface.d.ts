/**
 * Declares the members that we use of a package. The package's own declarations import without file
 * extensions: under `nodenext` all its exports would silently be `any`. A declared module takes
 * precedence over the package's. None of these types is public.
 */

declare module "@huggingface/tokenizers" {
  export class Tokenizer {
    constructor(tokenizer: object, config: object)
    encode(text: string, options?: { add_special_tokens?: boolean }): { ids: number[]; tokens: string[] }
    /** May be a sequence, if the file has one. */
    readonly normalizer: {
      normalizers: { readonly config: { type: string }; normalize: (text: string) => string }[]
    } | null
  }
}
