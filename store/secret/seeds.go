package secret

// SeedStep is the highest number of users in one step of EncryptAll.
const SeedStep = 1000

// StoredSeed is the next seed of a user, as it is stored.
type StoredSeed struct {
	User   string
	Stored []byte
}

// Reencrypted counts seeds that were to be encrypted with the first key.
type Reencrypted struct {
	Changed int     // seeds that are encrypted with the first key now, and were not before
	Failed  int     // seeds that cannot be decrypted, and stay as they are
	Errs    []error // of the first failed seeds, at most maxErrs
}

const maxErrs = 20

func (r *Reencrypted) add(more Reencrypted) {
	r.Changed += more.Changed
	r.Failed += more.Failed
	r.Errs = append(r.Errs, more.Errs...)
	r.Errs = r.Errs[:min(len(r.Errs), maxErrs)]
}

// Reencrypt encrypts with the first key those seeds that are stored in clear or under another key. changed has the new values
// to store.
func (k *Keys) Reencrypt(seeds []StoredSeed) (changed []StoredSeed, did Reencrypted) {
	for _, s := range seeds {
		if k.Current(s.Stored) {
			continue
		}
		seed, _, err := k.NextSeed(s.User, s.Stored)
		if err != nil {
			did.add(Reencrypted{Failed: 1, Errs: []error{err}})
			continue
		}
		changed = append(changed, StoredSeed{s.User, k.EncryptNextSeed(s.User, seed)})
	}
	did.Changed = len(changed)
	return changed, did
}

// EncryptAll calls step until it has looked at the next seeds of all users. step reads the next seeds of at most SeedStep
// users, the first ones whose ids are greater than after, and stores what Reencrypt changes. found has all seeds that step
// has read, sorted by user. If found has fewer than SeedStep seeds, no users are left.
func EncryptAll(step func(after string) (found []StoredSeed, did Reencrypted, err error)) (all Reencrypted, err error) {
	for after := ""; ; {
		found, did, err := step(after)
		if err != nil {
			return all, err
		}
		all.add(did)
		if len(found) < SeedStep {
			return all, nil
		}
		after = found[SeedStep-1].User
	}
}
