package server

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/server/config"
)

// HistoryQuery says which changes of the configuration are asked for.
type HistoryQuery struct {
	Kind  config.Kind // empty: all
	ID    string      // of that kind; empty: all
	Limit int
	After uint32 // version; those before it are given; zero: from the newest on
}

// HistoryPage is some of them, the newest first.
type HistoryPage struct {
	Entries []HistoryEntry
	Next    uint32 // version that the next page is after; zero: there is none
}

// HistoryEntry is a configuration that came into force, and what it changed.
type HistoryEntry struct {
	Version uint32          `json:"version"`
	At      *time.Time      `json:"at"` // null: an earlier program did not keep it
	By      string          `json:"by"`
	From    string          `json:"from"`
	Changes []HistoryChange `json:"changes"`
	More    int             `json:"more,omitempty"` // changes that are left out
	Lost    bool            `json:"lost,omitempty"` // its document, or the one before it, cannot be read
}

// HistoryChange is one difference.
type HistoryChange struct {
	Path   string          `json:"path"`
	Before json.RawMessage `json:"before,omitempty"` // absent: it was not there
	After  json.RawMessage `json:"after,omitempty"`  // absent: it is gone
}

const (
	defaultPage = 50
	maxPage     = 500
)

func (a *Admin) history(ctx *fasthttp.RequestCtx) {
	query, ok := a.historyQuery(ctx)
	if !ok {
		return
	}
	page, err := a.operator.History(query)
	if err != nil {
		a.failWith(ctx, err)
		return
	}
	answer := struct {
		Entries []HistoryEntry `json:"entries"`
		Next    *string        `json:"next"`
	}{Entries: append([]HistoryEntry{}, page.Entries...)}
	for i := range answer.Entries {
		answer.Entries[i].Changes = append([]HistoryChange{}, answer.Entries[i].Changes...)
	}
	if page.Next != 0 {
		next := strconv.FormatUint(uint64(page.Next), 10)
		answer.Next = &next
	}
	a.tell(ctx, answer)
}

// historyQuery reads the question; false: it was answered already.
func (a *Admin) historyQuery(ctx *fasthttp.RequestCtx) (q HistoryQuery, ok bool) {
	args := ctx.QueryArgs()
	bad := func(field, expected string) (HistoryQuery, bool) {
		a.fail(ctx, faultPayload, market.FieldError{Field: field, Code: errcode.FieldNotAllowedValue, Expected: expected})
		return q, false
	}
	q.Limit, q.Kind, q.ID = defaultPage, config.Kind(args.Peek("kind")), string(args.Peek("id"))
	if q.Kind != "" && !isKind(q.Kind) {
		return bad("kind", "suppliers, buyers, campaigns or suppression_lists")
	}
	if q.ID != "" && q.Kind == "" {
		return bad("id", "a kind beside it")
	}
	if args.Has("limit") {
		limit, err := args.GetUint("limit")
		if err != nil || limit < 1 || limit > maxPage {
			return bad("limit", "1 to 500")
		}
		q.Limit = limit
	}
	if args.Has("after") {
		after, err := strconv.ParseUint(string(args.Peek("after")), 10, 32)
		if err != nil || after == 0 {
			return bad("after", "what next was in the page before")
		}
		q.After = uint32(after)
	}
	return q, true
}

func isKind(kind config.Kind) bool {
	for _, known := range config.Kinds {
		if kind == known {
			return true
		}
	}
	return false
}
