// Package event holds the facts that are logged: what was decided, never what
// was asked. Each kind has a number for ever, each field too; event.proto beside
// this file describes them, so that any protobuf tool reads a log.
//
// A fact carries all that applying it needs. Replay decides nothing, so a fact
// names the caps it charges and the windows they are charged in, the keys it
// remembers and until when, and, where it takes something back, what exactly.
//
// What an event refers to by slice or string belongs to whoever made it: the
// decoder's results alias the frame they were read from and are good until the
// next one. Applying copies what it keeps.
//
// Adding a field is free. A change to what applying does is a new version of
// the kind, with the code for the old one kept.
package event
