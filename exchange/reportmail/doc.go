// Package reportmail sends the saved reports of an exchange by e-mail, at the moments of their
// schedules and on request.
//
// The log has the end of each e-mail, so each moment of a schedule is sent once, also over restarts.
// After an outage only the latest missed moment is sent. A crash between the SMTP server's acceptance
// and the record of it may send an e-mail twice; both have the same Message-ID.
package reportmail
