// Package market holds the field's nouns and their pure rules: campaigns,
// suppliers, buyers, leads, caps, schedules, prices. It imports nothing of the
// project, reads no clock, no file and no socket, and keeps no state: what a
// rule needs to know is handed to it.
//
// Whatever an operator configures arrives here already checked and compiled
// (see Catalog). A value of a type of this package is valid by construction;
// nothing downstream checks it again.
package market
