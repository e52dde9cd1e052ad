/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions inside of others. */
#include <string.h>

struct plain {
	int number;
	const char *text;
};

namespace
{

int with_local(int count)
{
	struct local {
		int number;
		int method(const char *text, int more)
		{
			return number + text[0] + more;
		}
		static int made(plain object)
		{
			return object.number;
		}
	};
	local object = {count};

	if (count) {
		auto in_block = [](double number, const char *text) {
			return (int)number + text[0];
		};

		count += in_block(2.5, "block");
	}
	return object.method("method", 3) + local::made({4, "made"}) + count;
}

} // namespace

int main(int count, char **)
{
	auto lambda = [count](const char *text, int number) {
		return (int)strlen(text) + number + count;
	};

	return !(lambda("lambda", 10) + with_local(count));
}
