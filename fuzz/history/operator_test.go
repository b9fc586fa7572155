//go:build unix

package history

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

// topUpPause is the longest time between two top-ups.
const topUpPause = 400 * time.Millisecond

// topUpRepeatedly adds money to the account. It repeats no request, because a top-up has no key.
func (h *history) topUpRepeatedly(random *rand.Rand, c *cluster) {
	account := h.budgets[len(h.budgets)-1]
	for h.isRunning() {
		time.Sleep(time.Duration(random.Int64N(int64(topUpPause))))
		leader := c.leader()
		amount := 1 + random.Int64N(2*fundPrice)
		o := operation{client: maxClients, node: leader.ID, call: h.now(), request: request{kind: topUp, budget: account, amount: amount}}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		body := fmt.Sprintf(`{"amount":%d,"note":"top-up"}`, amount)
		status, text, header, err := sendAdmin(ctx, "POST", leader, "/admin/v1/buyers/"+account.buyer+"/funds", body)
		cancel()
		if err == nil {
			o.answer = newAnswer(status, header, text)
		}
		o.end = h.now()
		h.add(&o)
	}
}

// readBudgets reads the rest of each budget at the leader, as the last operations of the history.
func (h *history) readBudgets(c *cluster) {
	for _, b := range h.budgets {
		o := operation{client: maxClients, node: "leader", request: request{kind: readBudget, budget: b}, call: h.now()}
		left, err := c.readBudget(b)
		if err != nil {
			c.t.Error(err)
			continue
		}
		o.answer = answer{isKnown: true, status: http.StatusOK, left: left, text: fmt.Sprintf("%d left", left)}
		o.end = h.now()
		h.add(&o)
	}
}

// readBudget returns the rest of a budget. It waits until no open request reserves a part.
func (c *cluster) readBudget(b *budget) (left int64, err error) {
	for range 100 {
		leader := c.AwaitLeader()
		var held json.Number
		if b.isAccount {
			var account struct {
				Balance int64
				Held    json.Number
			}
			leader.AdminGet("/admin/v1/buyers/"+b.buyer+"/funds", &account)
			left, held = account.Balance, account.Held
		} else {
			var list struct {
				Caps []struct {
					Limit, Used int64
					Held        json.Number
				}
			}
			leader.AdminGet("/admin/v1/caps?buyer="+b.buyer, &list)
			if len(list.Caps) != 1 {
				return 0, fmt.Errorf("buyer %s has %d caps, want 1", b.buyer, len(list.Caps))
			}
			left, held = list.Caps[0].Limit-list.Caps[0].Used, list.Caps[0].Held
		}
		if held == "0" {
			return left, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return 0, fmt.Errorf("a part of the budget of %s stays reserved in an idle exchange", b.buyer)
}
