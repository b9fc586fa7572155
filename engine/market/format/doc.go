// Package format reads the textual forms of a lead's values: phone numbers, email
// addresses, dates, times, URLs, ZIP codes and numbers. Its functions are pure and hold no
// state. Those that every lead passes through allocate only for unusual values.
package format
