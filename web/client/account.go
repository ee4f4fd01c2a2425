package client

import (
	"encoding/json"

	"hongbao/web/client/model"
	"hongbao/web/wire"
)

// accountUpdate holds the account fields of a reply or a push. A missing field is nil or empty.
type accountUpdate struct {
	Balance        *int64 `json:"balance"`
	NextCommitment string `json:"next_commitment"`
	Version        int64  `json:"account_version"`
}

// startAccountLocked replaces the account by the one in a connect reply, whatever its version is. The user may be
// another one, and after a restore from a backup versions are lower.
func (c *Client) startAccountLocked(data wire.ConnectData) {
	c.account = model.Account{Balance: data.Balance, Currency: data.Currency, NextCommitment: data.NextCommitment, Version: data.AccountVersion}
	c.commitmentVersion = data.AccountVersion
}

// updateAccountLocked applies those fields of an update that are not older than the known ones, because replies and
// pushes may arrive out of order. The commitment has a version of its own, because some replies have only a balance.
func (c *Client) updateAccountLocked(u accountUpdate) {
	newer := func(known *int64) bool {
		if u.Version < *known {
			return false
		}
		*known = u.Version
		return true
	}
	if u.Balance != nil && newer(&c.account.Version) {
		c.account.Balance = *u.Balance
	}
	if u.NextCommitment != "" && newer(&c.commitmentVersion) {
		c.account.NextCommitment = u.NextCommitment
	}
}

// updateAccount applies the account fields in the reply to a command, if replies to this command have any.
func (c *Client) updateAccount(method string, reply []byte) {
	switch method {
	case "wallet", "send_packet", "grab", "cancel_packet":
	default:
		return
	}
	var u accountUpdate
	if json.Unmarshal(reply, &u) != nil {
		return // the caller of the command gets the error
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.updateAccountLocked(u)
}
