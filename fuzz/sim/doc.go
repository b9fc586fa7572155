// Package sim plays years of an exchange in minutes, and holds each step of them
// against a model.
//
// The engine is the real one. What stands around it is simulated: a clock that
// jumps (a bubble of testing/synctest), a log that dies before or after any fact,
// snapshots at any time, restarts from snapshot and log or from the log alone,
// buyers that accept, refuse, fail, hang, are busy, cannot be reached or bid by a
// rule, and suppliers that do not hear. A seed makes a market and what happens to
// it: leads, repeats, auctions and the sales after them, reports, returns,
// top-ups, pauses, users and their tokens, persons who are erased, other terms, clock changes, ends of windows.
//
// Beside it goes a model: the contract in plain maps, one step after the other,
// without a line of the engine. After each step the answer, the money, the leads
// that are on their way and what suppliers were told must be the same; at each
// restart, and now and then, all leads, the room in all caps, all statements, and
// the state by the log alone, with the snapshot, and live. Everybody's looks at all leads
// must be the model's; nobody whom the log has erased may be had from it or be sent again,
// though the keys come from an older copy, and everybody else must.
//
// A history is text, a line a step. One that fails is shortened until nothing can
// be left out, and printed; as a file in testdata it is played with every test.
//
// A second mode sends requests side by side while the log is slow. There the
// model looks for an order, one after the other, that explains all the answers.
//
// Rejected: a scheduler of our own. The bubble knows when everyone waits, and the
// engine needs no other build for it. Rejected: what the model cannot foresee left
// unchecked. Where the contract leaves the exchange a choice (where turns begin,
// jitter, whether a failing buyer is spared) the model takes what it saw, if that
// is one of the choices, and holds the exchange to it from then on.
//
// The simulation is tested too: mutants of the engine, each with a fault such as
// a window that begins 24 hours after the last one, must be found.
package sim
