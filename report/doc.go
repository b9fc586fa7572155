// Package report follows the log into an SQLite file that answers an operator's
// questions: what was asked, bid, sold, refused and returned, by whom, and for how
// much.
//
// It reads durable entries like any other program, in a goroutine of its own, and
// nothing waits for it. All that it knows it could learn again from the log: the file
// says of which log it is and which entry it has reached, in the transaction that got
// it there, and one that is gone, damaged or of another log is thrown away and built
// anew, as far back as the log goes. So nothing else may ever be kept in it.
//
// Two kinds of tables stand in it. Leads, auctions, bids, posts and webhooks have a row
// for each, to be looked up. Cells are sums, by a quarter of an hour and by what a
// report may be asked by: the offset of every time zone is a multiple of a quarter, so
// the hours and days of any of them are sums of cells. By hours and days of UTC there are
// sums of what is asked most (see grain), and a time is read as whole days, whole hours
// beside them, and quarters at its ends. What money did is taken from
// ledger.Party.Movements, which is the ledger; there is no second one here.
//
// No contact data is in it, in clear or hashed: it opens no sealed part, and of what
// suppliers and buyers write freely it has a lead's source alone, where that looks like
// one (see sources). Test leads have rows, which are marked, and are in no cell.
package report
