/** All of what `draws.test.ts` takes a sample of: the project sets TOKENRAIL_TESTS. */
import "./draws.test.ts"
