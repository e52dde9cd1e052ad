// SPDX-License-Identifier: GPL-2.0-or-later
// A function with a mangled name.
namespace space
{
__attribute__((noinline)) int twice(int n)
{
	__asm__ volatile("" : "+r"(n));
	return 2 * n;
}
} // namespace space

int main()
{
	return space::twice(21) == 42 ? 0 : 1;
}
