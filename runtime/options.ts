/**
 * What the server needs of the options of lower floors: their checks, and the words of policies.
 */
export { editDistance } from "../grammar/nearest.ts"
export { checkOptions, type Fields } from "../grammar/options.ts"
export { type PolicyName, type PolicyWord, policyWords } from "../grammar/policies.ts"
