package pgstore

import (
	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/tables"
)

// takeFunding sets the state of a packet's funding to sent, and credits its amount to the sender. The caller must call
// circulate at the end of the transaction. The row of the funding is locked from here on, so nothing else can reverse
// it. Errors: Funding.Void if the funding is not in state asked, and chat.ErrConflict if the host's key or the key of
// the credit was used before.
func (w *writer) takeFunding(o redpacket.UnsealedPacket) error {
	f, credit := o.Funded, o.FundingCredit()
	details, err := f.Details()
	if err != nil {
		return err
	}
	m := tables.AdjustmentTransfer(credit, details)
	n, err := w.Exec(`update fundings set state = 'sent', settled_at = $6, amount = $5, host_key = $4, packet_id = $7
		where bucket = $1 and user_id = $2 and id = $3 and state = 'asked' and `+tables.NoOtherFunding,
		chat.UserBucket(f.User), f.User, f.ID, f.HostKey, f.Amount, o.Packet.CreatedAt.UnixMilli(), o.Packet.ID)
	if err != nil {
		return err
	}
	if n == 0 {
		return w.fundingRefused(*f)
	}
	if m.Link, err = w.Chained(m.Leaf()); err != nil {
		return err
	}
	var (
		b        pgx.Batch
		recorded int64
	)
	unused := w.queueKey(&b, credit.Key)
	w.queueTransfer(&b, m).Exec(affected(&recorded))
	queueCredit(&b, []string{f.User}, []redpacket.Money{f.Amount})
	if err := w.SendBatch(&b); err != nil {
		return err
	}
	if recorded == 0 || *unused == 0 { // an operator has used the key
		return chat.ErrConflict
	}
	return nil
}

// fundingRefused returns why a packet cannot be sent with the funding.
func (w *writer) fundingRefused(f redpacket.Funded) error {
	var asked bool
	if _, err := w.Row(`select state = 'asked' from fundings where bucket = $1 and user_id = $2 and id = $3`,
		[]any{chat.UserBucket(f.User), f.User, f.ID}, &asked); err != nil {
		return err
	}
	if asked { // another funding of the user has the host's key
		return chat.ErrConflict
	}
	return f.Void()
}

// circulate adds a credit to the money in circulation, and fails if that is more than redpacket.MaxMoney then. It locks
// the only row of the table circulation until the commit, so it must come last.
func (w *writer) circulate(credit redpacket.Money) error {
	var (
		b           pgx.Batch
		circulating redpacket.Money
	)
	queueCirculation(&b, credit, &circulating)
	err := w.SendBatch(&b)
	if err != nil {
		return err
	}
	return tables.CheckCirculation(credit, circulating)
}
