package report

import (
	"pingpost/report/projection"
)

import "strings"

// schemaVersion increases with every change to the tables or their content. A file of
// another version is rebuilt.
const schemaVersion = 5

// applicationID is in the header of the report's files.
const applicationID = 0x70706f73

// schema creates the tables. Times are Unix nanoseconds, money is in millionths, ids have
// 16 bytes. Buyers, suppliers, campaigns and sources are numbers, which the tables names
// and sources explain. Rows with an id as key are in time order, because ids are.
//
// Sums are by units of 1, 4 and 96 quarters of an hour; start counts units since 1970. The column
// grain is a projection.DimensionColumnSet: 1 supplier, 2 buyer, 4 campaign, 8 source, 16
// state and 32 reason, added. For unfinished units only the quarters of grains 63 and 7
// are complete.
const schema = `
CREATE TABLE place (
	one INTEGER PRIMARY KEY CHECK (one = 1),
	exchange BLOB NOT NULL, epoch INTEGER NOT NULL,
	seq INTEGER NOT NULL, at INTEGER NOT NULL,
	begins INTEGER NOT NULL
);
CREATE TABLE names (kind INTEGER, ref INTEGER, id TEXT NOT NULL, PRIMARY KEY (kind, ref)) WITHOUT ROWID;
CREATE TABLE sources (ref INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE);
CREATE TABLE leads (
	id BLOB PRIMARY KEY, seq INTEGER NOT NULL, at INTEGER NOT NULL,
	campaign INTEGER NOT NULL, supplier INTEGER NOT NULL, buyer INTEGER NOT NULL,
	source INTEGER NOT NULL, state TEXT NOT NULL,
	status INTEGER NOT NULL, delivery INTEGER NOT NULL, reason INTEGER NOT NULL,
	price INTEGER NOT NULL, payout INTEGER NOT NULL, currency TEXT NOT NULL,
	auction BLOB, posts INTEGER NOT NULL, test INTEGER NOT NULL, erased INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE auctions (
	id BLOB PRIMARY KEY, seq INTEGER NOT NULL, at INTEGER NOT NULL, lead BLOB,
	campaign INTEGER NOT NULL, supplier INTEGER NOT NULL, source INTEGER NOT NULL, state TEXT NOT NULL,
	reason INTEGER NOT NULL, asked INTEGER NOT NULL, test INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE bids (
	auction BLOB, seat INTEGER, buyer INTEGER NOT NULL, outcome INTEGER NOT NULL, elapsed INTEGER NOT NULL,
	amount INTEGER NOT NULL, payout INTEGER NOT NULL, currency TEXT NOT NULL,
	status INTEGER NOT NULL, fault INTEGER NOT NULL,
	PRIMARY KEY (auction, seat)
) WITHOUT ROWID;
CREATE TABLE posts (
	lead BLOB, nth INTEGER, seq INTEGER NOT NULL, at INTEGER NOT NULL, buyer INTEGER NOT NULL,
	price INTEGER NOT NULL, payout INTEGER NOT NULL, currency TEXT NOT NULL,
	settlement INTEGER NOT NULL, settled INTEGER NOT NULL, attempts INTEGER NOT NULL,
	status INTEGER NOT NULL, fault INTEGER NOT NULL, elapsed INTEGER NOT NULL,
	PRIMARY KEY (lead, nth)
) WITHOUT ROWID;
CREATE TABLE webhooks (
	lead BLOB, type INTEGER, supplier INTEGER NOT NULL, caused INTEGER NOT NULL,
	outcome INTEGER NOT NULL, attempts INTEGER NOT NULL, at INTEGER NOT NULL,
	status INTEGER NOT NULL, fault INTEGER NOT NULL,
	PRIMARY KEY (lead, type)
) WITHOUT ROWID;
CREATE TABLE actions (
	id BLOB PRIMARY KEY, seq INTEGER NOT NULL, at INTEGER NOT NULL, ended INTEGER NOT NULL,
	actor TEXT NOT NULL, credential INTEGER NOT NULL, token TEXT NOT NULL, role INTEGER NOT NULL, address TEXT NOT NULL,
	operation TEXT NOT NULL, target_kind TEXT NOT NULL, target TEXT NOT NULL,
	request TEXT NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL, result TEXT NOT NULL,
	status INTEGER NOT NULL, answer BLOB, omitted INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX actions_seq ON actions (seq);
CREATE TABLE persons (hash BLOB, lead BLOB, PRIMARY KEY (hash, lead)) WITHOUT ROWID;
CREATE INDEX persons_lead ON persons (lead);
CREATE INDEX leads_buyer ON leads (buyer, id) WHERE buyer > 0;
CREATE INDEX leads_supplier ON leads (supplier, id);
CREATE INDEX leads_reason ON leads (reason, id) WHERE reason > 0;
CREATE INDEX leads_test ON leads (test, id) WHERE test = 1;
`

// sumKeyColumns are the key of a sum: its unit, then the columns of a report.
var sumKeyColumns = []string{"grain", "unit", "start", "campaign", "supplier", "buyer", "source", "state", "reason", "currency"}

// latencyKeyColumns are the key of a latency histogram.
var latencyKeyColumns = []string{"grain", "unit", "start", "campaign", "supplier", "buyer", "kind"}

const (
	sumTable     = "cells"
	latencyTable = "paces"
)

const reasonTable = "whys"

var (
	reasonKeyColumns = []string{"unit", "start", "campaign", "supplier", "buyer", "reason"}
	reasonSumColumns = []string{"leads", "unmatched", "bids"}
)

func createTableSQL(name string, key, measures []string, measureType string) string {
	return "CREATE TABLE " + name + " (" + strings.Join(key, " NOT NULL, ") + " NOT NULL, " +
		strings.Join(measures, " "+measureType+" NOT NULL, ") + " " + measureType + " NOT NULL, PRIMARY KEY (" + strings.Join(key, ", ") + ")) WITHOUT ROWID;\n"
}

// createAllTablesSQL returns the SQL that creates all tables of the report's database.
func createAllTablesSQL() string {
	return schema + createTableSQL(sumTable, sumKeyColumns, projection.MeasureNames, "INTEGER") + createTableSQL(latencyTable, latencyKeyColumns, []string{"times"}, "BLOB") +
		createTableSQL(reasonTable, reasonKeyColumns, reasonSumColumns, "INTEGER")
}
