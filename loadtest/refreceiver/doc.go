// Package refreceiver is the reference receiver of webhooks: an endpoint that verifies
// webhooks as a supplier should, and answers as configured. Load tests send webhooks to
// it, developers try an exchange with it, and tests read its account afterwards.
//
// It is an independent account, so it shares only the format of the secret with the
// sender. It computes both signatures itself, and both must be right. A random failure is
// a hash of the seed, the event's id and the attempt number. The same deliveries get the
// same results in any order.
//
// It stores the id and the number of deliveries of each event, and the body of the first
// events up to a limit; /events lists them. A delivery with a wrong signature is only
// counted.
package refreceiver
