// Asks llama.cpp about schemas and texts: its schema converter and its grammar engine, without a model.
//
// Rows come on standard input and answers leave on standard output, one JSON object a line, in the
// form that engines.py describes. Each row runs in a process of its own: llama.cpp aborts on some
// grammars. Built by llamacpp.sh.
#include "json-schema-to-grammar.h"
#include "llama-grammar.h"
#include "../src/unicode.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// The parts of llama.cpp and ggml that report errors and end the process; the rest is not linked.
void llama_log_internal(ggml_log_level, const char *, ...) {}
extern "C" void ggml_abort(const char *, int, const char *, ...) { std::abort(); }

using ordered = nlohmann::ordered_json;

static const int LimitSeconds = 20;

static llama_grammar * read_grammar(const std::string & text) {
    return llama_grammar_init_impl(nullptr, text.c_str(), "root", false, nullptr, 0, nullptr, 0);
}

static bool accepts(const llama_grammar * start, const std::string & text) {
    llama_grammar * grammar = llama_grammar_clone_impl(*start);
    bool isAlive = true;
    for (const auto codePoint : unicode_cpts_from_utf8(text)) {
        llama_grammar_accept(grammar, codePoint);
        isAlive = !grammar->stacks.empty();
        if (!isAlive) break;
    }
    bool isDone = false;
    for (const auto & stack : grammar->stacks) isDone = isDone || stack.empty();
    llama_grammar_free_impl(grammar);
    return isAlive && isDone;
}

static ordered answer(const ordered & row) {
    std::string text;
    try {
        text = json_schema_to_grammar(common_json::parse(row.at("schema").get<std::string>()), true);
    } catch (const std::exception & error) {
        return {{"id", row.at("id")}, {"refused", error.what()}};
    }
    llama_grammar * grammar = read_grammar(text);
    if (grammar == nullptr) return {{"id", row.at("id")}, {"refused", "failed to parse grammar"}};
    ordered accepted = ordered::array();
    for (const auto & each : row.at("texts")) accepted.push_back(accepts(grammar, each.get<std::string>()));
    return {{"id", row.at("id")}, {"accepted", accepted}};
}

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        const ordered row = ordered::parse(line);
        const pid_t pid = fork();
        if (pid == 0) {
            const rlimit limit = {LimitSeconds, LimitSeconds};
            setrlimit(RLIMIT_CPU, &limit);
            std::cout << answer(row).dump(-1, ' ', false, ordered::error_handler_t::replace) << std::endl;
            _exit(0);
        }
        int status = 0;
        waitpid(pid, &status, 0);
        if (!WIFSIGNALED(status)) continue;
        const std::string reason = "ended by signal " + std::to_string(WTERMSIG(status));
        // Assertions and endless recursion end the process: a server would be gone.
        const bool isCrash = WTERMSIG(status) == SIGABRT || WTERMSIG(status) == SIGSEGV;
        const char * kind = isCrash ? "refused" : "failed";
        std::cout << ordered{{"id", row.at("id")}, {kind, reason}}.dump() << std::endl;
    }
}
