// The way into the core, compiled for any x86-64: a core that needs more than this processor has is refused with a
// sentence instead of dying of an illegal instruction. No templates here: the linker might take their copies from a
// file that was compiled for more.
#include <Python.h>

#include <cstring>

#include "processor.hpp"

#ifdef __x86_64__
namespace {

struct Instructions {
    const char* name;
    bool supported;
};

// Names, joined by commas, of what is needed and not there.
void find_missing(char* names, size_t room) {
#define ASK(name, macro) {name, __builtin_cpu_supports(name) != 0},
    const Instructions all[] = {CONTINUA_INSTRUCTIONS(ASK)};
    names[0] = 0;
    int place = 0;
    for (const Instructions& one : all) {
        if (!continua_needed[place++] || one.supported) continue;
        if (names[0]) std::strncat(names, ", ", room - std::strlen(names) - 1);
        std::strncat(names, one.name, room - std::strlen(names) - 1);
    }
}

void refuse(const char* missing) {
    PyObject* why = PyUnicode_FromFormat(
        "the core was built for a processor with %s, which this one does not have: build Continua on this machine, or "
        "for every processor it supports with CONTINUA_ARCH=x86-64-v3",
        missing);
    PyObject* name = PyUnicode_FromString("continua._core");
    if (why && name) PyErr_SetImportError(why, name, nullptr);
    Py_XDECREF(why);
    Py_XDECREF(name);
}

}  // namespace
#endif

PyMODINIT_FUNC PyInit__core() {
#ifdef __x86_64__
    char missing[512];
    find_missing(missing, sizeof missing);
    if (missing[0]) {
        refuse(missing);
        return nullptr;
    }
#endif
    return continua_core_init();
}
