// Package report keeps an SQLite file of the log's content and answers operators'
// questions from it: pings, bids, sales, rejections and returns, by party, with amounts.
//
// It reads the entries in its own goroutine, and no other part waits for it. The file
// contains only data that the log has. Each transaction also stores the log's identity and
// the last applied entry. A file that is missing, damaged or of another log is deleted and
// rebuilt as far back as the log goes. Therefore no other data may ever be stored in it.
//
// The file has two kinds of tables. Leads, auctions, bids, posts and webhooks have one row
// each, for searches. Sums are by quarters of an hour and by the columns of a report. The
// offset of every time zone is a multiple of a quarter, so sums of quarters give the hours
// and days of any zone. The most frequent groupings also have sums by hours and days of
// UTC (see projection.DimensionColumnSet). A period is read as whole days, whole hours beside them, and
// quarters at its ends. Amounts come from ledger.Party.AppendEntriesOfEvent, so there is no second
// ledger here.
//
// The file has no contact data in clear, and the report decrypts no sealed part. It has keyed
// hashes of phone numbers and e-mail addresses, by which FindLeadsOfPerson finds a lead. The
// exchange computes them, with a key that the file does not have. An erasure removes a lead's
// hashes. Of the free text of suppliers and buyers it stores only a lead's source, if that
// is harmless (see projection.LeadSourceNumbering). Test leads have marked rows and are in no sum.
package report
