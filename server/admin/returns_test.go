package admin

import (
	"encoding/json"
	"strings"
	"testing"

	"pingpost/engine"
	"pingpost/server/admin/payload"
)

// The mark shows the operator that the return moves no money.
func TestPendingReturnOfTestLeadIsMarked(t *testing.T) {
	for _, test := range []bool{false, true} {
		body := string(payload.EncodeJSON(newPendingReturn(&engine.PendingReturn{Campaign: "cmp_hand", Test: test})))
		if !json.Valid([]byte(body)) || strings.Contains(body, `"test":true`) != test || !strings.Contains(body, `"campaign_id":"cmp_hand"`) {
			t.Error(body)
		}
	}
}
