// Package market holds the nouns of the exchange and their pure rules: campaigns,
// suppliers, buyers, leads, caps, prices. It reads no clock, no file and no socket, and
// holds no state: callers pass everything that a rule needs.
//
// The configuration is checked and compiled before it arrives here (see Catalog). A value
// of a type of this package is valid by construction; later code does not check it again.
//
// Several types describe results, each for one scope:
//
//	type                   scope                              values and use
//	BuyerOutcome           one buyer in one decision          won, lost, no_bid, capped …: record, metrics, dashboard
//	UnsoldReason           one lead or ping, for the supplier the furthest BuyerOutcome.UnsoldReasonForSupplier of all buyers
//	PostAttemptVerdict     one attempt to post                accepted, refused, unreached, unknown, busy
//	OutboundRequestFault   one failed ping, post or webhook   the technical cause, for operators
//	event.PostSettlement   one open post                      the final or intermediate result of all attempts
//	DeliveryState          one lead, for operators            the state of the delivery that settlements lead to
//	LeadStatus             one lead, for supplier and buyer   OPEN, ACCEPTED, UNMATCHED, then the buyer's reports
//	state.AnswerToSupplier one lead, for the supplier         the answer that was sent; it never changes
//	ReturnState            one lead's return                  none, waiting, approved, refused
//	event.LeadStatusChangeResult  one reported change         done, none, waits, refused …
//	StatusReportRejection  one rejected report                why; with a field error or a status
//
// They map as follows. An attempt's PostAttemptVerdict leads to a PostSettlement, which sets
// DeliveryState and LeadStatus:
//
//	PostAttemptVerdict            PostSettlement        Delivery   LeadStatus
//	accepted                      delivered             delivered  ACCEPTED
//	refused, next buyer posted    refused               pending    unchanged
//	refused, next buyer recorded  refused               none       ACCEPTED
//	refused, no buyer left        refused               failed     UNMATCHED
//	unreached, unknown, busy      (another attempt)     pending    unchanged
//	answer due, attempts go on    pending               pending    ACCEPTED
//	attempts used up              unknown               unknown    ACCEPTED
//	operator: confirm             confirmed             confirmed  ACCEPTED
//	operator: release             released              released   UNMATCHED
//	operator: resend              resent                pending    unchanged
//
// state.AnswerToSupplier becomes ACCEPTED or UNMATCHED with the first LeadStatus of that name,
// and stays.
package market
