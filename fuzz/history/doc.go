// Package history tests that a cluster answers concurrent clients as one exchange would.
//
// Eight to sixteen clients send requests to three nodes over sockets for some seconds, and each request
// is recorded with its answer, its begin and its end. Meanwhile one fault happens, for example the leader
// is killed. porcupine then searches for a sequence of the requests in which a small model of the
// exchange gives the same answers (linearizability). Without such a sequence, the exchange broke a promise:
//
//   - A key has one decision. All answers under it are equal, and another body is rejected (keyModel).
//   - A person is sold once (personModel).
//   - A cap and an account are never exceeded, a refusal comes only when they are exhausted, and a return
//     gives back once (budgetModel).
//   - An auction sells one lead (auctionModel).
//   - A lead that a client knows is found at every node, with its last status (leadModel).
//
// # Unknown results
//
// An answer 5xx, a timeout or a lost connection leaves the result of a request unknown. Such an
// operation may take effect at any time until the end of the history, or never. So its end is the end of
// the history, and the models accept it in any state: as the last operation it has no effect on others.
// Repeats of a request under its key are one operation for all models but keyModel and auctionModel. It
// takes effect between the first attempt and the first answer.
//
// # Proof of detection
//
// mutants_test.go breaks the program, and the histories must show each defect. models_test.go gives the
// models histories that they must reject.
package history
