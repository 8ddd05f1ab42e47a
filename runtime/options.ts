/**
 * What the floors above need of the options of those below: how they are checked, and the words of
 * policies.
 */
export { editDistance } from "../grammar/nearest.ts"
export { checkOptions, type Fields } from "../grammar/options.ts"
export { type PolicyName, type PolicyWord, policyWords } from "../grammar/policies.ts"
