package chat

import "hash/fnv"

const userBuckets = 32

// UserBucket returns the bucket of rows that belong to a user, such as reports and fundings: a hash of the user's id. The bucket
// is the first column of their keys, so the rows can be spread over several databases. It is stored, so it must never change.
func UserBucket(user string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(user)) // never fails
	return int(h.Sum32() % userBuckets)
}
