/** The conversation and the options of a request, and the buttons that start and stop it. */
import type { VNode } from "preact"
import { seedProblem } from "./request.ts"
import { type Kind, type Message, type Options, optionWords, type Setup } from "./setup.ts"

interface PromptProps {
  setup: Setup
  change: (part: Partial<Setup>) => void
  isRunning: boolean
  canRun: boolean
  onRun: () => void
  onStop: () => void
}

export function Prompt({ setup, change, isRunning, canRun, onRun, onStop }: PromptProps): VNode {
  const { messages, options, kind } = setup
  return (
    <section class="panel prompt" aria-labelledby="prompt-title">
      <h2 id="prompt-title">Conversation</h2>
      <Messages
        messages={messages}
        onChange={(next) => change({ messages: next })}
        onSubmit={() => {
          if (canRun && !isRunning) onRun()
        }}
      />
      <OptionFields kind={kind} options={options} onChange={(next) => change({ options: next })} />
      <div class="row">
        <button type="button" class="primary" disabled={!canRun || isRunning} onClick={onRun}>
          Run
        </button>
        <button type="button" disabled={!isRunning} onClick={onStop}>
          Stop
        </button>
        {!canRun && (
          <span class="quiet">A run needs a model, a constraint that compiles, and a seed or none.</span>
        )}
      </div>
    </section>
  )
}

function Messages(props: {
  messages: readonly Message[]
  onChange: (messages: Message[]) => void
  /** Called for Enter with Control or Command. */
  onSubmit: () => void
}): VNode {
  const { messages, onChange, onSubmit } = props
  const set = (index: number, part: Partial<Message>): void =>
    onChange(messages.map((each, at) => (at === index ? { ...each, ...part } : each)))
  return (
    <>
      <ol class="messages">
        {messages.map(({ role, content }, index) => (
          <li key={index}>
            <select
              aria-label={`Role of message ${index + 1}`}
              value={role}
              onChange={(event) => set(index, { role: event.currentTarget.value as Message["role"] })}
            >
              {["system", "user", "assistant"].map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
            <textarea
              aria-label={`Message ${index + 1}`}
              rows={Math.min(6, content.split("\n").length + 1)}
              value={content}
              onInput={(event) => set(index, { content: event.currentTarget.value })}
              onKeyDown={(event) => {
                if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) onSubmit()
              }}
            />
            {messages.length > 1 && (
              <button
                type="button"
                class="icon"
                aria-label={`Remove message ${index + 1}`}
                onClick={() => onChange(messages.filter((_, at) => at !== index))}
              >
                ×
              </button>
            )}
          </li>
        ))}
      </ol>
      <div class="row">
        <button type="button" onClick={() => onChange([...messages, { role: "user", content: "" }])}>
          Add a message
        </button>
      </div>
    </>
  )
}

function OptionFields(props: { kind: Kind; options: Options; onChange: (options: Options) => void }): VNode {
  const { kind, options } = props
  const set = (part: Partial<Options>): void => props.onChange({ ...options, ...part })
  const isJson = kind === "json" || kind === "tag" || kind === "tools"
  const problem = seedProblem(options.seed)
  const word = <Name extends keyof typeof optionWords>(name: Name, label: string): VNode => (
    <Choice<Options[Name]>
      id={`option-${name}`}
      label={label}
      value={options[name]}
      words={optionWords[name]}
      onChange={(value) => set({ [name]: value })}
    />
  )
  return (
    <fieldset class="options">
      <legend>Options</legend>
      <NumberField
        label="Temperature"
        value={options.temperature}
        bounds={[0, 2, 0.1]}
        onChange={(temperature) => set({ temperature })}
      />
      <NumberField
        label="Most tokens"
        value={options.maxTokens}
        bounds={[1, 4096, 1]}
        onChange={(maxTokens) => set({ maxTokens })}
      />
      <div>
        <label for="seed">Seed</label>
        <input
          id="seed"
          inputMode="numeric"
          value={options.seed}
          placeholder="random"
          aria-invalid={problem !== null}
          aria-describedby={problem === null ? undefined : "seed-problem"}
          onInput={(event) => set({ seed: event.currentTarget.value })}
        />
      </div>
      {word("onLength", "At the end of the budget")}
      {isJson && word("whitespace", "White space")}
      {isJson && word("order", "Order of properties")}
      {kind === "tools" && word("toolChoice", "Calls")}
      {kind === "json" && (
        <div class="tick">
          <input
            id="in-prompt"
            type="checkbox"
            checked={options.schemaInPrompt}
            onChange={(event) => set({ schemaInPrompt: event.currentTarget.checked })}
          />
          <label for="in-prompt">Show the schema to the model</label>
        </div>
      )}
      {problem !== null && (
        <p id="seed-problem" class="problem">
          {problem}
        </p>
      )}
    </fieldset>
  )
}

function NumberField(props: {
  label: string
  value: number
  bounds: readonly [min: number, max: number, step: number]
  onChange: (value: number) => void
}): VNode {
  const { label, value, bounds, onChange } = props
  const id = `option-${label.toLowerCase().replaceAll(" ", "-")}`
  const [min, max, step] = bounds
  return (
    <div>
      <label for={id}>{label}</label>
      <input
        id={id}
        type="number"
        {...{ min, max, step }}
        value={value}
        onChange={(event) => {
          const next = event.currentTarget.valueAsNumber
          if (Number.isFinite(next)) onChange(Math.min(max, Math.max(min, next)))
        }}
      />
    </div>
  )
}

function Choice<Word extends string>(props: {
  id: string
  label: string
  value: Word
  words: readonly Word[]
  onChange: (word: Word) => void
}): VNode {
  const { id, label, value, words, onChange } = props
  return (
    <div>
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        onChange={(event) => {
          const found = words.find((word) => word === event.currentTarget.value)
          if (found) onChange(found)
        }}
      >
        {words.map((word) => (
          <option key={word}>{word}</option>
        ))}
      </select>
    </div>
  )
}
