// Package clock is the clock of an exchange.
package clock
