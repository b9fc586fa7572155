package admin

import (
	"encoding/json"
	"strings"
	"testing"

	"pingpost/engine"
)

// TestWaitingTestIsMarked: the operator sees that no money hangs on it.
func TestWaitingTestIsMarked(t *testing.T) {
	for _, test := range []bool{false, true} {
		body := string(encodeJSON(newPendingReturn(&engine.PendingReturn{Campaign: "cmp_hand", Test: test})))
		if !json.Valid([]byte(body)) || strings.Contains(body, `"test":true`) != test || !strings.Contains(body, `"campaign_id":"cmp_hand"`) {
			t.Error(body)
		}
	}
}
