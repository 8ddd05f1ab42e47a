/**
 * Exports what the server needs to check the options of lower layers: their checks, and the words
 * of policies.
 */
export { editDistance } from "../grammar/nearest.ts"
export { checkOptions, type Fields } from "../grammar/options.ts"
export { type PolicyName, type PolicyWord, policyWords } from "../grammar/policies.ts"
