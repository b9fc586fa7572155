// Package person finds the leads of a person by phone number or e-mail address for operators, shows
// their contact data masked, and reveals the contact data of one lead for a reason.
//
// The value that identifies the person comes in the body of a POST. It is in no address, log line,
// metric, trace or record of the audit log: a record has it masked. The report holds only keyed hashes
// of such values (see package report), and the exchange removes those of erased persons.
package person
