/**
 * Exports what the server needs to check the options of lower layers: their checks, the words of
 * policies, and the bounds of decisions.
 */
export { editDistance } from "../grammar/nearest.ts"
export { checkOptions, type Fields } from "../grammar/options.ts"
export { type PolicyName, type PolicyWord, policyWords } from "../grammar/policies.ts"
export { decisionBounds } from "./decisions/questions.ts"
