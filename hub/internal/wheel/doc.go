// Package wheel owns timers with a resolution of one tick (50 ms), cheap enough for several per idle connection.
//
// Timers lie in hierarchical wheels: four levels of 64 slots, about nine days. A timer that is due later is put at the
// end of the last level and placed again from there. Arming, disarming and firing cost O(1). The ticks of a
// wheel without any timer are skipped.
//
// It must always hold:
//
//   - A timer fires at its tick or later, and once however often it is moved before that. There is one exception: a timer may
//     fire although another goroutine has just moved or disarmed it. Its owner checks what is due.
//   - Owner.Fire runs without a lock of this package, so it may arm timers. It must not block.
//
// The package starts no goroutine. One goroutine of the caller calls Wheels.Advance. All other methods are safe for
// concurrent use. A wheel's lock is a leaf: nothing is called under it.
package wheel
