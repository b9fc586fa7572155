// Package engine is the exchange's core: the actions of suppliers, buyers and operators,
// about one per file.
//
// An action decides in memory, concurrently with others, and holds reservations. It gives its
// event to the log. The log's committer makes the event durable, applies it, and wakes the
// action, which then answers. So every answer is durable, and every post to a buyer follows a
// durable intent.
//
// The package reads no clock, draws no random numbers and opens no socket or file. It uses the
// ports in ports.go, so a test can run days of an exchange in milliseconds.
package engine
