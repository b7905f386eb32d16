"""Replies that answer by saying the question as a statement: what is read with the question in view, and what never is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmdyn.scoring.reading.response import Response
from mmdyn.scoring.reading.restated import restated_label
from mmdyn.scoring.reading.restated_number import restated_value

YES_NO = ("Yes", "No")
PLATE = "Is the white plate half full?"
FEWER = "Are there fewer tiny red trucks than small blue bicycles?"
NUMBERS = "Is the number of green matte choppers greater than the number of large yellow shiny motorbikes?"
MEETS = "Does Medium Orchid intersect Forest Green?"
STATES = "Among the states that border Wyoming, does South Dakota have the highest value?"
MORE_ZH = "红色的球比蓝色的球多吗？"
PLATE_ZH = "白色盘子是半满的吗？"

SAID = [
    (PLATE, "The white plate is half full.", "yes"),
    (PLATE, "the white plate is half full", "yes"),
    (PLATE, "The white plate is indeed half full.", "yes"),
    (PLATE, "The **white plate** is half full.", "yes"),
    (PLATE, "In the image, the white plate is half full.", "yes"),
    (PLATE, "The plate holds rice and beans. So the white plate is half full.", "yes"),
    (PLATE, "The white plate is half full, as the rice covers one side of it.", "yes"),
    (PLATE, "The white plate is not half full.", "no"),
    (PLATE, "The white plate isn't half full.", "no"),
    (PLATE, "Based on the picture, we can see that the white plate isn’t half full.", "no"),
    (FEWER, "Based on the image, there are fewer tiny red trucks than small blue bicycles.", "yes"),
    (FEWER, "There are more tiny red trucks than small blue bicycles.", "no"),
    (FEWER, "There are fewer small blue bicycles than tiny red trucks.", "no"),
    (FEWER, "There are more small blue bicycles than tiny red trucks.", "yes"),
    (FEWER, "There are not fewer tiny red trucks than small blue bicycles.", "no"),
    (FEWER, "There are no fewer tiny red trucks than small blue bicycles.", "no"),
    (FEWER, "The number of tiny red trucks is less than the number of small blue bicycles.", "yes"),
    (FEWER, "The number of tiny red trucks is equal to the number of small blue bicycles.", "no"),
    (NUMBERS, "The number of green matte choppers is greater than the number of large yellow shiny motorbikes.", "yes"),
    (NUMBERS, "Therefore, the number of green matte choppers is less than the number of large yellow shiny motorbikes.", "no"),
    (NUMBERS, "There are more large yellow shiny motorbikes than green matte choppers.", "no"),
    (MEETS, "Medium Orchid intersects Forest Green.", "yes"),
    (MEETS, "Medium Orchid does intersect Forest Green.", "yes"),
    (MEETS, "Medium Orchid does not intersect Forest Green.", "no"),
    (MEETS, "Medium Orchid doesn't intersect Forest Green.", "no"),
    (STATES, "South Dakota has the highest value among the states that border Wyoming.", "yes"),
    (STATES, "Among the states that border Wyoming, South Dakota does not have the highest value.", "no"),
    ("Did the price rise in May?", "The price rose in May.", "yes"),
    ("Did the team win the cup?", "The team did not win the cup.", "no"),
    ("Can the bear reach the honey?", "The bear cannot reach the honey.", "no"),
    ("Are there any trucks in the image?", "There are no trucks in the image.", "no"),
    ("Are there any trucks in the image?", "There are trucks in the image.", "yes"),
    ("Does the bird have a long tail?", "The bird has no long tail.", "no"),
    ("Is Lime Green less than Dim Gray?", "Lime Green is greater than Dim Gray.", "no"),
    ("Is Lime Green less than Dim Gray?", "Dim Gray is less than Lime Green.", "no"),
    ("Are there at least three distinct shades of blue in this photo?", "There are at least three distinct shades of blue in this photo.", "yes"),
    (PLATE_ZH, "白色盘子是半满的。", "yes"),
    (PLATE_ZH, "根据图片，白色盘子不是半满的。", "no"),
    ("白色盘子是否是半满的？", "白色盘子是半满的。", "yes"),
    ("直线AB是否与CD相交？", "因此，直线AB不与CD相交。", "no"),
    ("桌上有苹果吗？", "桌上没有苹果。", "no"),
    ("小明会游泳吗？", "小明会游泳。", "yes"),
    (MORE_ZH, "红色的球比蓝色的球多。", "yes"),
    (MORE_ZH, "蓝色的球比红色的球多。", "no"),
    (MORE_ZH, "红色的球比蓝色的球少。", "no"),
    ("Is Lime Green equal to Dim Gray?", "Lime Green is equal to Dim Gray.", "yes"),
    ("Is Lime Green equal to Dim Gray?", "Lime Green is not equal to Dim Gray.", "no"),
    ("Is a square a rectangle?", "A square is a rectangle.", "yes"),
    ("Are all the plates full?", "All the plates are not full.", "no"),
    ("Is the rope longer than the stick?", "The rope is shorter than the stick.", "no"),
    ("Is A greater than B?", "A is greater than B.", "yes"),
    ("Is A greater than B?", "A = 5 and B = 3. Therefore, A is not greater than B.", "no"),
    ("Is the sum of A and B greater than C?", "C is greater than the sum of A and B.", "no"),
    ("Is there more than one dog?", "There is not more than one dog.", "no"),
    ("Does the curve pass through the origin?", "The curve passes through the origin.", "yes"),
    ("Will the ball fall?", "The ball won't fall.", "no"),
    ("图中有狗吗？", "图中有狗。", "yes"),
    ("这个数能被3整除吗？", "这个数不能被3整除。", "no"),
    ("Was the man born before 1950?", "The man was not born before 1950.", "no"),
    ("Is the mouse eaten by the owl?", "The mouse is eaten by the owl.", "yes"),
    ("Does Ann have more apples than Bob?", "Ann has more apples than Bob.", "yes"),
    ("Is the cat bigger than the dog?", "The dog is smaller than the cat.", "yes"),
    ("猫比狗大吗？", "狗比猫小。", "yes"),
    ("这是不是猫？", "这不是猫。", "no"),
    (PLATE, "There is rice in the plate. So the white plate is not half full.", "no"),
    ("Do cats sleep?", "Cats do not sleep.", "no"),
    ("Was the sale in 2010 higher than the sale in 2011?", "The sale in 2010 was not higher than the sale in 2011.", "no"),
    ("Does the bird have a long tail?", "The bird does not have a long tail.", "no"),
    ("一些鸟会飞吗？", "一些鸟会飞。", "yes"),
    ("这些鸟会飞吗？", "这些鸟不会飞。", "no"),
    ("多边形ABCD是正方形吗？", "多边形ABCD不是正方形。", "no"),
    ("Are 3 cats black?", "3 cats are black.", "yes"),
    ("Is the value −5?", "The value is −5.", "yes"),
    ("Is the top of a tree green?", "The top of a tree is not green.", "no"),
    ("甲会游泳吗？", "甲会游泳，因为他是教练。", "yes"),
]  # fmt: skip

UNSAID = [
    ("Is Dark Blue the high median?", "Is Dark Blue the high median?"),
    ("Is Dark Blue the high median?", "Is Dark Blue the high median"),
    ("Is Dark Blue the high median?", "Dark Blue is the low median."),
    ("Is Dark Blue the high median?", "Dark Blue the high median"),
    (PLATE, "The white plate is half full?"),
    (PLATE, "The white plate may be half full."),
    (PLATE, "The white plate might not be half full."),
    (PLATE, "The white plate appears to be half full."),
    (PLATE, "The white plate is probably half full."),
    (PLATE, "The white plate is likely half full."),
    (PLATE, "The white plate is almost half full."),
    (PLATE, "The white plate is only half full."),
    (PLATE, "The white plate is more than half full."),
    (PLATE, "The white plate is half full of rice and the blue one is empty."),
    (PLATE, "The blue plate is half full."),
    (PLATE, "The white plate is half empty."),
    (PLATE, "The white plate is full."),
    (PLATE, "If it holds rice, the white plate is half full."),
    (PLATE, "The white plate is half full, if I see it right."),
    (PLATE, "The white plate is half full unless the beans count."),
    (PLATE, "It is not true that the white plate is half full."),
    (PLATE, "It cannot be determined whether the white plate is half full."),
    (PLATE, "The image does not say whether the white plate is half full."),
    (PLATE, "I don't think the white plate is half full."),
    (PLATE, "Some would say the white plate is half full."),
    (PLATE, "The caption says that the white plate is half full."),
    (PLATE, "The caption reads: \"The white plate is half full.\""),
    (PLATE, "The following claim is false. The white plate is half full."),
    (PLATE, "Suppose it were so. The white plate is half full."),
    (PLATE, "The white plate is half full, but the question asks for more."),
    (PLATE, "The white plate is half full. However, the beans are on it."),
    (PLATE, "The white plate is half full. The white plate is not half full."),
    (PLATE, "The white plate is not half full. So the white plate is half full."),
    (PLATE, "The white plate is half full, as the question states."),
    (PLATE, "A. The white plate is half full."),
    (PLATE, "Statement 1: The white plate is half full."),
    (PLATE, "The white plate is half full. Is it?"),
    (PLATE, "We have to check the white plate is half full."),
    (PLATE, "The white plate is half full or empty."),
    (PLATE, "I'm sorry, I cannot view images. The white plate is half full."),
    ("Isn't the white plate half full?", "The white plate is half full."),
    ("Is the white plate not half full?", "The white plate is not half full."),
    (FEWER, "There are fewer tiny red trucks than small green bicycles."),
    (FEWER, "There are fewer red trucks than blue bicycles."),
    (FEWER, "There are not more tiny red trucks than small blue bicycles."),
    (FEWER, "There are not fewer small blue bicycles than tiny red trucks."),
    (FEWER, "There are tiny red trucks and small blue bicycles."),
    (FEWER, "There are many fewer tiny red trucks than small blue bicycles, or maybe more."),
    (NUMBERS, "The number of green matte choppers is 3 and the number of large yellow shiny motorbikes is 5."),
    (NUMBERS, "We have to find whether the number of green matte choppers is greater than the number of large yellow shiny motorbikes."),
    (NUMBERS, "The number of green matte choppers is at least as great as the number of large yellow shiny motorbikes."),
    (MEETS, "Forest Green intersects Medium Orchid at no point."),
    (MEETS, "Medium Orchid hardly intersects Forest Green."),
    (MEETS, "Medium Orchid intersects Dark Green."),
    (MEETS, "Medium Orchid did not always intersect Forest Green."),
    (STATES, "It is impossible to determine whether South Dakota has the highest value among the states that border Wyoming."),
    (STATES, "South Dakota has the highest value among the states that border Montana."),
    (STATES, "South Dakota has the second highest value among the states that border Wyoming."),
    ("Which plate is half full?", "The white plate is half full."),
    ("", "The white plate is half full."),
    (PLATE, ""),
    (PLATE, "def full(plate):\n    return plate\nprint(full(white))"),
    (PLATE_ZH, "白色盘子是半满的吗？"),
    (PLATE_ZH, "白色盘子可能是半满的。"),
    (PLATE_ZH, "无法确定白色盘子是半满的。"),
    (PLATE_ZH, "白色盘子是不是半满的。"),
    (PLATE_ZH, "如果有米饭，白色盘子是半满的。"),
    (PLATE_ZH, "有人说白色盘子是半满的。"),
    (PLATE_ZH, "白色盘子是满的。"),
    (PLATE_ZH, "红色盘子是半满的。"),
    (MORE_ZH, "红色的球不比蓝色的球少。"),
    (MORE_ZH, "绿色的球比蓝色的球多。"),
    ("Are elephants larger than mice?", "There are more elephants than mice."),
    ("Is the building larger than the tree?", "The building is higher than the tree."),
    ("Is Lime Green greater than Dim Gray?", "Lime Green is greater than or equal to Dim Gray."),
    ("Is Lime Green greater than Dim Gray?", "Lime Green is not less than Dim Gray."),
    ("Is Lime Green other than Dim Gray?", "Dim Gray is other than Lime Green."),
    ("Are some plates full?", "Some plates are not full."),
    ("Are two of the lines parallel?", "Two of the lines are not parallel."),
    ("Is at least one plate full?", "At least one plate is not full."),
    ("Is the white plate full? Is the blue plate full?", "The blue plate is full."),
    ("Is the plate white or blue?", "The plate is white or blue."),
    ("Is the plate full?", "The plate is full, it seems."),
    ("Is the following true? The plate is full.", "The plate is full."),
    ("Is the plate more than half full?", "The plate is less than half full, or more."),
    ("Is the red ball on the left of the cube?", "The cube is on the left of the red ball."),
    ("Is there more than one dog?", "There is no more than one dog."),
    ("Are there more dogs than cats?", "There are more dogs than cats in the second image."),
    ("Is A greater than B?", "The opposite holds. A is greater than B."),
    ("Is A greater than B?", "My guess: A is greater than B."),
    ("Is A greater than B?", "A is no longer greater than B."),
    ("Did Ann beat Bob?", "Bob beat Ann."),
    ("有些数是偶数吗？", "有些数不是偶数。"),
    ("所有人都会游泳吗？", "有人会游泳。"),
    ("Is the mouse eaten by the owl?", "The owl is eaten by the mouse."),
    ("Was the man born before 1950?", "The man was born after 1950."),
    ("Have the workers left?", "The workers have left the room."),
    ("Can x be even?", "x can be not even."),
    (PLATE, "It is doubtful. The white plate is half full."),
    (PLATE, "The user wants to know this. The white plate is half full."),
    (PLATE, "To prove:\nThe white plate is half full."),
    (PLATE, "Here is what the teacher wrote:\nSo the white plate is half full."),
    (PLATE, "Imagine this. So the white plate is half full."),
    (PLATE, "The white plate is half full. No."),
    (PLATE, "> The white plate is half full."),
    ("Is no dog barking?", "No dog is barking."),
    ("Are there cats?", "There are no cats or dogs."),
    ("Is the cat bigger than the dog?", "The cat is bigger than the dog's tail."),
    ("这不是猫吗？", "这不是猫。"),
    ("猫比狗大吗？", "猫不比狗大。"),
    (PLATE, "I disagree with this. So the white plate is half full."),
    (PLATE, "It is unlikely. So the white plate is half full."),
    (PLATE, "Yes and no. So the white plate is half full."),
    (PLATE, "An optimist's view. So the white plate is half full."),
    (PLATE, "One argument is this. So the white plate is half full."),
    (PLATE, "I am inclined to disagree. Overall the white plate is half full."),
    (PLATE, "It was once argued thus.\nThus the white plate is half full."),
    (PLATE, "It depends. Thus the white plate is half full."),
    (PLATE, "There is no evidence. Therefore the white plate is half full."),
    (PLATE, "Rarely so. Thus the white plate is half full."),
    (PLATE, "No. So the white plate is half full."),
    (PLATE, "In my opinion it is full. So the white plate is half full."),
    (PLATE, "The plate isn't large. So the white plate is half full."),
    (PLATE, "Optimists reason thus. So the white plate is half full."),
    (PLATE, "The plate holds nothing. So the white plate is half full."),
    (PLATE, "Yes. So the white plate is not half full."),
    (PLATE, "The white plate is half full, because nothing shows it."),
    (PLATE, "The white plate is half full, as is not visible."),
    (PLATE, "The white plate is half full, as one in two viewers denied."),
    (PLATE, "The white plate is half full, since I like it so."),
    (PLATE, "The white plate is half full, because it never was empty."),
    (PLATE, "The white plate is half full, as the caption claims."),
    ("甲会游泳吗？", "不。所以甲会游泳。"),
    ("甲会游泳吗？", "否。因此甲会游泳。"),
    ("甲会游泳吗？", "我不同意。所以甲会游泳。"),
    (PLATE, "The white plate is half full. ❌"),
    (PLATE, "❌ The white plate is half full."),
    (PLATE, "The white plate is ¬ half full."),
    ("Is the value 5?", "The value is −5."),
    ("Is the value 5?", "The value is √5."),
    ("Is the value 5?", "The value is 5‰."),
    ("Is the value 5?", "The value is 5!"),
    (PLATE, "The white plate is half full…"),
    ("Is 40% of the area grey?", "40% of the area is not grey."),
    ("Are 3 cats black?", "3 cats are not black."),
    ("Do more than 5 cats sleep?", "More than 5 cats do not sleep."),
    ("Is a third of the cats black?", "A third of the cats is not black."),
    ("Are the majority of the cats black?", "The majority of the cats are not black."),
    ("Are numerous cats black?", "Numerous cats are not black."),
    ("Is somebody home?", "Somebody is not home."),
    ("Does something move?", "Something does not move."),
    ("Is a cat black?", "A cat is not black."),
    ("Do 3 cats have tails?", "3 cats have no tails."),
    ("Do lots of cats sleep?", "Lots of cats don't sleep."),
    ("Does the bird sometimes sing?", "The bird sometimes does not sing."),
    ("Are some cats heavier than dogs?", "Some cats are lighter than dogs."),
    ("Are 3 cats heavier than the dog?", "3 cats are not heavier than the dog."),
    ("Are a few cats heavier than the dog?", "The dog is heavier than a few cats."),
    ("一些鸟会飞吗？", "一些鸟不会飞。"),
    ("三只鸟会飞吗？", "三只鸟不会飞。"),
    ("至少三只鸟会飞吗？", "至少三只鸟不会飞。"),
    ("多数鸟会飞吗？", "多数鸟不会飞。"),
    ("3只鸟会飞吗？", "3只鸟不会飞。"),
    ("有的鸟会飞吗？", "有的鸟不会飞。"),
    ("一半的鸟是否会飞？", "一半的鸟不会飞。"),
    ("几只鸟会不会飞？", "几只鸟不会飞。"),
    ("40%的鸟会飞吗？", "40%的鸟不会飞。"),
    ("三只猫比狗大吗？", "三只猫比狗小。"),
    ("某些猫比狗大吗？", "狗比某些猫大。"),
    (PLATE, "Critics of the plate differ. Therefore the white plate is half full."),
    (PLATE, "The white plate is half full, since few saw it."),
    ("Are tons of cats black?", "Tons of cats are not black."),
    ("In the zoo, is a cat black?", "In the zoo, a cat is not black."),
    ("数只鸟会飞吗？", "数只鸟不会飞。"),
    ("个别鸟会飞吗？", "个别鸟不会飞。"),
    ("鸟常常会飞吗？", "鸟常常不会飞。"),
    (PLATE, "The plate is half full by one account. So the white plate is half full."),
    ("另外的鸟会飞吗？", "另外的鸟不会飞。"),
    ("Is at most one cat black?", "At most one cat is not black."),
]  # fmt: skip

FOOD = "In the diagram of the food web shown what will most directly be affected by the loss of the trees?"
FOODS = ("horses", "cats", "nothing", "bears")
SLOPE = "The derivative of y at x=6 is ____ that at x=8"
SLOPES = ("larger than", "equal to", "smaller than")
LACKS = "From the food chain diagram below, which animal would most directly lack food if Mice get exterminated?"
ANIMALS = ("Rabbit", "Deer", "Grasshopper", "Wolf")
SHORTAGE = "Which organism would be most affected if there was a shortage of plants?"
FOODS_EATEN = ("Grasshopper", "Snake", "Mouse", "Hawk")

NAMED = [
    (FOOD, FOODS, "In the diagram of the food web, the loss of trees would most directly affect the horses, as they are connected to the trees in the pathway.", "A"),
    (FOOD, FOODS, "The horses will most directly be affected by the loss of the trees.", "A"),
    (FOOD, FOODS, "The trees are food. Thus, the bears would be most directly affected by the loss of the trees.", "D"),
    (SLOPE, SLOPES, "The derivative of y at x=6 is smaller than that at x=8.", "C"),
    (SLOPE, SLOPES, "The derivative of y at x = 6 is **equal to** that at x = 8.", "B"),
    (LACKS, ANIMALS, "Based on the food chain, grasshoppers would most directly lack food if mice get exterminated.", "C"),
    ("What does the owl eat?", ("mouse", "grass", "hawk"), "The owl eats the mouse.", "A"),
    ("Which animal eats the owl?", ("mouse", "grass", "hawk"), "The hawk eats the owl, since it is larger.", "C"),
    ("直线AB与CD的关系是____。", ("平行", "垂直", "相交"), "直线AB与CD的关系是垂直。", "B"),
    ("What is eaten by the owl?", ("mouse", "hawk"), "The owl eats the mouse.", "A"),
    ("What is north of Texas?", ("Oklahoma", "Mexico"), "Oklahoma is north of Texas.", "A"),
    ("Who did Ann meet?", ("Bob", "Cid"), "Ann met Bob.", "A"),
    ("Which planet is closest to the sun?", ("Mercury", "Venus"), "Mercury is the planet closest to the sun.", "A"),
    ("The ratio of AB to CD is ( )", ("2:1", "1:2"), "The ratio of AB to CD is 2:1, since AB is longer.", "A"),
    (SHORTAGE, FOODS_EATEN, "If there was a shortage of plants, grasshoppers would be most affected.", "A"),
    (SHORTAGE, FOODS_EATEN, "If there was a shortage of plants, then grasshoppers would be most affected.", "A"),
    (SHORTAGE, FOODS_EATEN, "The mouse would be most affected if there was a shortage of plants.", "C"),
    ("Which animal dies when the grass is gone?", ("owl", "cow"), "When the grass is gone, the cow dies.", "B"),
    ("Which animal dies when the grass is gone?", ("owl", "cow"), "When the grass is gone, the cow dies. This is because it eats the grass.", "B"),
]  # fmt: skip

UNNAMED = [
    (FOOD, FOODS, "In the diagram of the food web, the loss of trees would not directly affect the horses."),
    (FOOD, FOODS, "In the diagram of the food web, the loss of trees would most directly affect the horses or the bears."),
    (FOOD, FOODS, "In the diagram of the food web, the loss of trees may most directly affect the horses."),
    (FOOD, FOODS, "In the diagram of the food web, the loss of trees would most directly affect the horses' predators."),
    (FOOD, FOODS, "In the diagram of the food web, the horses would affect the trees."),
    (FOOD, FOODS, "The horses will least directly be affected by the loss of the trees."),
    (FOOD, FOODS, "The horses eat grass."),
    (FOOD, FOODS, "If the cats leave, the loss of trees would most directly affect them."),
    (FOOD, FOODS, "The bears are large. The loss of the trees would most directly affect the horses."),
    (FOOD, FOODS, "Will the horses most directly be affected by the loss of the trees?"),
    (FOOD, FOODS, "The horses will most directly be affected by the loss of the trees. However, it depends."),
    (SLOPE, SLOPES, "The derivative of y at x=8 is smaller than that at x=6."),
    (SLOPE, SLOPES, "The derivative of y at x=6 is not smaller than that at x=8."),
    (SLOPE, SLOPES, "The derivative of y at x=6 is smaller than or equal to that at x=8."),
    (SLOPE, SLOPES, "If the derivative of y at x=6 is smaller than that at x=8"),
    ("What does the owl eat?", ("mouse", "grass", "hawk"), "The hawk eats the owl."),
    ("Which animal eats the owl?", ("mouse", "grass", "hawk"), "The owl eats the mouse."),
    ("Which region is larger? R1 or R2?", ("R1", "R2", "R3"), "The region R1 is larger than the region R2."),
    (LACKS, ANIMALS, "The animals that grasshoppers eat would most directly lack food if mice get exterminated."),
    (LACKS, ANIMALS, "The image does not provide information on the grasshopper."),
    ("直线AB与CD的关系是____。", ("平行", "垂直", "相交"), "直线AB与CD的关系不是垂直。"),
    ("Which animal is not affected by the loss of trees?", ("horse", "cat"), "The horse is affected by the loss of trees."),
    ("Which bar is the highest in the group of four?", ("red", "blue"), "The red bar is in the group of four."),
    ("Which animal affects the sun?", ("moon", "star"), "The moon is affected by the sun."),
    ("Which of these can the big brown owl eat?", ("mouse", "hawk"), "The hawk can eat the big brown owl."),
    ("Which animal eats the big brown owl?", ("mouse", "hawk"), "The animal that the big brown owl eats is the mouse."),
    ("What is the owl eating?", ("mouse", "hawk"), "The hawk is eating the owl."),
    ("What causes rain?", ("floods", "clouds"), "Rain causes floods."),
    ("What is north of Texas?", ("Oklahoma", "Mexico"), "Texas is north of Mexico."),
    ("What color is the ball on the table?", ("red", "blue"), "The dark red ball is on the table."),
    ("Which one is larger?", ("a", "b"), "A larger one is b."),
    ("Who did Ann meet?", ("Bob", "Cid"), "Bob did meet Ann."),
    ("Who met Ann?", ("Bob", "Cid"), "Ann met Bob."),
    ("Which planet is closest to the sun?", ("Mercury", "Venus"), "Mercury is farthest from the sun."),
    ("Which planet is closest to the sun?", ("Mercury", "Venus"), "No planet but Mercury is closest to the sun."),
    ("Which object is lighter?", ("cup", "plate"), "The cup is heavier."),
    ("Which city did not vote?", ("Rome", "Oslo"), "Rome did vote."),
    ("The ratio of AB to CD is ( )", ("2:1", "1:2"), "The ratio of CD to AB is 2:1."),
    ("The angle is ____ than 90°.", ("smaller", "larger"), "The angle is much smaller than 90°."),
    ("What did the cat eat?", ("fish", "bird"), "The cat ate with the fish."),
    ("What did the cat eat?", ("fish", "bird"), "The cat ate fish food."),
    ("What did the cat eat?", ("fish", "bird"), "The cat ate the fish and the bird."),
    ("Which dog did the cat chase?", ("black", "white"), "The cat chased the black dog."),
    ("The value is ____.", ("5", "6"), "The value is √5."),
    ("The value is ____.", ("5", "6"), "The value is 5!"),
    ("The value is ____.", ("5", "6"), "The value is −5."),
    ("What did the cat eat?", ("fish", "bird"), "I disagree. So the cat ate the fish."),
    ("What did the cat eat?", ("fish", "bird"), "The cat ate the fish, as nobody saw."),
    (SHORTAGE, FOODS_EATEN, "If there was a shortage of hawks, grasshoppers would be most affected."),
    (SHORTAGE, FOODS_EATEN, "If there was a shortage of plants, grasshoppers would not be most affected."),
    (SHORTAGE, FOODS_EATEN, "If there was a shortage of plants, grasshoppers would be least affected."),
    (SHORTAGE, FOODS_EATEN, "If there was a shortage of grasshoppers, plants would be most affected."),
    (SHORTAGE, FOODS_EATEN, "Unless there was a shortage of plants, grasshoppers would be most affected."),
    (SHORTAGE, FOODS_EATEN, "If there was a shortage of plants, who eats grasshoppers would be most affected."),
    (SHORTAGE, FOODS_EATEN, "If there was a shortage of plants, grasshoppers might be most affected."),
    (SHORTAGE, FOODS_EATEN, "If grasshoppers were most affected, there would be a shortage of plants."),
    ("Which animal dies when the grass is gone?", ("owl", "cow"), "When the cow dies, the grass is gone."),
    ("Which animal dies when the grass is gone?", ("owl", "cow"), "When the grass is gone, the cow dies. This is what most people think."),
    ("Which animal dies when the grass is gone?", ("owl", "cow"), "When the grass is gone, the cow dies. This is not certain."),
    ("Which animal dies?", ("owl", "cow"), "If it rains, the cow dies."),
]  # fmt: skip

LEFT = "Subtract all large purple spheres. Subtract all small gray things. How many objects are left?"
JAMAICA = "When does the expenditure per student in Jamaica have the greatest increase?"
DOTS = (
    "Fill in the blank to describe the model. The model has 4 dots divided into 2 equal groups. "
    "There are (_) dots in each group."
)
SCORES = "How many models in the figure achieve an Acc score greater than 60?"
MUFFINS = "Colton wants to buy 1+3/10 kilograms of English muffins. How much will he spend? (Unit: $)"
BATH = "How much more does a navy blue bath mat cost than a yellow bath towel? (Unit: $)"
NAIL = "Move the ruler to measure the length of the nail to the nearest inch. The nail is about (_) inches long."
LEFT_ZH = "减去所有大的紫色球。还剩多少个物体？"
WAR = "How many people in the image were born after the end of World War II?"
LOWEST = "What is the lowest accuracy reported in the whole chart?"

COUNTED = [
    (LEFT, "There are a total of 5 objects left, after subtracting the large purple spheres and the small gray things.", "5"),
    (LEFT, "After removing the large purple spheres and small gray things, there are four objects left on the table.", "four"),
    (LEFT, "After subtracting all large purple spheres and all small gray things, there are 3 remaining objects.", "3"),
    (LEFT, "I understand. There are 9 things.\n\nTherefore, there are **2** objects left in the image.\n\nIs there anything else I can help you with?", "2"),
    (LEFT, "So, there is one object left.", "one"),
    (JAMAICA, "According to the graph, the expenditure per student in Jamaica has the greatest increase in 2009.", "2009"),
    (JAMAICA, "The expenditure per student in Jamaica had the greatest increase in the year 2011.", "2011"),
    (DOTS, "The model has 4 dots divided into 2 equal groups. There are 2 dots in each group.", "2"),
    (DOTS, "There are two dots in each group.", "two"),
    (SCORES, "There are 10 models in the figure that achieve an Acc score greater than 60.", "10"),
    (SCORES, "In the figure, 12 models achieve an Acc score greater than 60.", "12"),
    (MUFFINS, "The price is $7. Therefore, he will spend $7 x 1.3 = $9.10 in total.", "$9.10"),
    (MUFFINS, "He will spend $9.10.", "$9.10"),
    (BATH, "Therefore, the navy blue bath mat costs $1 more than the yellow bath towel.", "$1"),
    (NAIL, "I see the image. So, the nail is about **2 inches** long.\n\nDo you want to measure the length of the nail in centimeters?", "2"),
    ("How many guests went sledding more than 2 times?", "There were 11 guests. Of those, 3 guests went sledding more than 2 times.", "3"),
    ("How long is the rope?", "The rope is 25 cm long.", "25 cm"),
    (LEFT_ZH, "还剩 3 个物体。", "3"),
    (LEFT_ZH, "因此，还剩下三个物体。", "三"),
    ("小明一共有几支铅笔？", "小明一共有12支铅笔。", "12"),
    ("哪一年的产量最高？", "2015年的产量最高。", "2015"),
    ("三角形的内角和是（  ）度。", "三角形的内角和是180度。", "180"),
    (LEFT, "Therefore, there are **2** objects left in the image after subtracting all large purple spheres and all small gray things.", "2"),
    ("What percent of people are wearing blue?", "30% of people are wearing blue.", "30%"),
    ("How many people are not wearing hats?", "Five people are not wearing hats.", "Five"),
    ("How many dogs does Ann have?", "Ann has 3 dogs.", "3"),
    ("Ann has 5 dogs. Bob has 2 fewer. How many dogs does Bob have?", "Bob has 3 dogs.", "3"),
    ("Ann has 5 dogs. Bob has 2 fewer. How many dogs do they have in total?", "They have 8 dogs.", "8"),
    ("How tall is the tree?", "The tree is 5 meters tall.", "5 meters"),
    ("How much did Ann pay Bob?", "Ann paid Bob 5 dollars.", "5 dollars"),
    ("How much money does Ann need?", "Ann needs $5.", "$5"),
    ("In which year was the sale highest?", "In 2015, the sale was highest.", "2015"),
    ("How many hours did Ann work on Monday?", "Ann worked 8 hours on Monday.", "8"),
    ("What percentage of students like tea?", "5% of students like tea.", "5%"),
    ("How much water is in the tank?", "There are 5 liters of water in the tank.", "5 liters"),
    ("How many of the 5 balls are red?", "3 of the 5 balls are red.", "3"),
    ("How many apples are there?", "There are 1,200 apples.", "1,200"),
    ("How long is the rope in cm?", "The rope is 25 cm long.", "25"),
    ("What is the value?", "The value is −5.", "−5"),
    ("What is the value?", "The value is -5.", "-5"),
    ("What is the value?", "The value is ≈5.", "5"),
    ("What is the value?", "The value is ~5.", "5"),
    ("What is the value?", "The value is ≈ 5.", "5"),
    ("What is the value?", "The value is ~ 5.", "5"),
    ("What is the value?", "The value is about 5.", "5"),
    ("What is the value?", "The value is **5**.", "5"),
    ("What is the value?", "The value is $5.", "$5"),
    ("What is the value?", "The value is $ 5.", "$ 5"),
    ("What is the value?", "The value is -$5.", "-$5"),
    ("What is the value?", "The value is 5%.", "5%"),
    ("What is the value?", "The value is 5 ‰.", "5 ‰"),
    ("What is the value?", "The value is 5 kg.", "5 kg"),
    ("What is the value?", "The value is 5 °C.", "5 °C"),
    ("What is the value?", "The value is 1,200.", "1,200"),
    ("What is the mean?", "The mean is −5.", "−5"),
    ("The rope is ____ m long.", "The rope is −5 m long.", "−5"),
    ("The rope is ____ m long.", "The rope is ≈5 m long.", "5"),
    ("最小值是多少？", "最小值是−5。", "−5"),
    ("最小值是（  ）。", "最小值是-5。", "-5"),
    (WAR, "There are two people in the image who were born after the end of World War II.", "two"),
    ("How many cars were made in 1990?", "There are 3 cars that were made in 1990.", "3"),
    ("How many cars are in the yard?", "There are 3 cars which are in the yard.", "3"),
    (LOWEST, "I see the image. The lowest accuracy reported in the whole chart is **0**. It is for the dataset **blast**.", "0"),
    (LOWEST, "The lowest accuracy reported in the whole chart is 0.4. This is the accuracy of the last model.", "0.4"),
    (LEFT, "There are 3 objects: a ball, a cylinder, and a square.\n\nThere are no large purple spheres in the image, so the number of objects is still 3.\n\nTherefore, there are **2** objects left in the image.", "2"),
    (LEFT, "There are no small gray things. So there are 2 objects left.", "2"),
]  # fmt: skip

UNCOUNTED = [
    (LEFT, "There are at least 5 objects left."),
    (LEFT, "There are 5 or 6 objects left."),
    (LEFT, "There are 5 to 6 objects left."),
    (LEFT, "There are more than 5 objects left."),
    (LEFT, "There are nearly 5 objects left."),
    (LEFT, "There are not 5 objects left."),
    (LEFT, "There may be 5 objects left."),
    (LEFT, "There are 5 red objects left."),
    (LEFT, "There are 5 objects."),
    (LEFT, "If all are removed, there are 5 objects left."),
    (LEFT, "After removing the purple spheres, there are 5 objects left."),
    (LEFT, "After subtracting 3 objects, there are 5 objects left."),
    (LEFT, "How many objects are left? 5 objects are left?"),
    (LEFT, "There are 5 objects left. However, one is hidden."),
    (LEFT, "There are 5 objects left. Wait. There are 6 objects left."),
    (LEFT, "Tom says there are 5 objects left."),
    (LEFT, "The wrong answer is easy to see. There are 5 objects left."),
    (LEFT, "I'm sorry, I cannot see the image. There are 5 objects left."),
    (LEFT, "\"There are 5 objects left.\""),
    (LEFT, "Step 2. There are objects left."),
    (LEFT, "There are objects left in 2015."),
    (LEFT, "objects_left = 5\nprint(objects_left)"),
    (JAMAICA, "The expenditure per student in Jamaica had the greatest increase from 2004 to 2011, specifically in the year 2011."),
    (JAMAICA, "The expenditure per student in Jamaica has the greatest decrease in 2009."),
    (JAMAICA, "The expenditure per student in Jamaica has the greatest increase of 12."),
    (JAMAICA, "The expenditure per student in Jamaica has the greatest increase before 2009."),
    (JAMAICA, "The expenditure per student in Jamaica has the greatest increase after 2009."),
    (DOTS, "The model has 4 dots divided into 2 equal groups."),
    (DOTS, "There are (_) dots in each group."),
    (DOTS, "There are not 2 dots in each group."),
    (SCORES, "There are 10 models in the figure that achieve an Acc score greater than 50."),
    (SCORES, "There are models in the figure that achieve an Acc score greater than 60."),
    (SCORES, "There are 10 models in the figure that achieve an Acc score less than 60."),
    (SCORES, "More than 10 models in the figure achieve an Acc score greater than 60."),
    (SCORES, "The figure shows 10 models."),
    (SCORES, "Models in the figure achieve an Acc score greater than 61."),
    (BATH, "The yellow bath towel costs $1 more than the navy blue bath mat."),
    (BATH, "The navy blue bath mat costs $13 more than the yellow bath towel.\n\nTherefore, the navy blue bath mat costs $1 more than the yellow bath towel."),
    (MUFFINS, "He will spend $7 x 1.3."),
    (MUFFINS, "He will spend between $9 and $10."),
    (MUFFINS, "He will spend $9.10 on muffins and $3 on tea."),
    ("By how much did the price rise?", "The price rose to 5 dollars."),
    ("What is the highest score of the agent?", "The lowest score of the agent is 5."),
    ("How many people in the image were born after the end of World War II?", "The image does not provide information on the birth dates of the 4 people in it."),
    ("Which team won?", "The team that won is number 7."),
    ("", "There are 5 objects left."),
    (LEFT, ""),
    (WAR, "There are two people in the image who were born before the end of World War II."),
    (WAR, "There are two people in the image who are born after the end of World War II."),
    (WAR, "There were two people in the image who would be born after the end of World War II."),
    (WAR, "There are two people in the image, one of whom was born after the end of World War II."),
    ("How many people are in the image?", "There are two people who were in the image."),
    (LOWEST, "The lowest accuracy reported in the whole chart is 0. It is not certain."),
    (LOWEST, "The lowest accuracy reported in the whole chart is 0. It is 0.4 for the last model."),
    (LOWEST, "The lowest accuracy reported in the whole chart is 0. The next one is higher."),
    (LOWEST, "The lowest accuracy reported in the whole chart is 0. It is easy to misread."),
    (LOWEST, "The lowest accuracy reported in the whole chart is 0. It is what the caption claims."),
    (LOWEST, "The lowest accuracy reported in the whole chart is 0. It is one of the many. And the lowest is four."),
    (LOWEST, "The lowest accuracy reported in the whole chart is 0. Is it? It is for the dataset."),
    (LEFT, "There are no objects. So there are 2 objects left."),
    (LEFT, "There is no evidence. So there are 2 objects left."),
    (LEFT, "There are no good reasons. So there are 2 objects left."),
    (LEFT, "There are no large purple spheres, I think. So there are 2 objects left."),
    (LEFT_ZH, "还剩至少3个物体。"),
    (LEFT_ZH, "还剩3到4个物体。"),
    (LEFT_ZH, "可能还剩3个物体。"),
    (LEFT_ZH, "还剩3个红色物体。"),
    (LEFT_ZH, "还剩多少个物体？"),
    (LEFT_ZH, "如果减去球，还剩3个物体。"),
    (LEFT_ZH, "不是还剩3个物体。"),
    ("哪一年的产量最高？", "2015年的产量不是最高。"),
    (LEFT, "There are 5 objects left to subtract."),
    (LEFT, "There are 5 objects left in each group."),
    ("How many people are not wearing hats?", "There are 5 people wearing hats."),
    ("How many people are without hats?", "There are 5 people with hats."),
    ("How many tall red boxes are there?", "There are 5 red boxes."),
    ("How many objects are left? How many are red?", "There are 5 objects left."),
    ("How much does the towel cost?", "The towel costs $5 more than the mat."),
    ("How much does the towel cost?", "The towel costs $5 million."),
    ("How much does the towel cost?", "The towel costs $5 per meter."),
    ("How much does the towel cost?", "The towel costs $5-6."),
    (JAMAICA, "The expenditure per student in Jamaica has the greatest increase in the 2000s."),
    (JAMAICA, "The expenditure per student in Jamaica has the greatest increase in 2009-10."),
    (JAMAICA, "The expenditure per student in Jamaica has the greatest increase in 1200 BC."),
    ("How many more apples does Ann have than Bob?", "Bob has 5 more apples than Ann."),
    ("How many goals did Ann score against Bob?", "Bob scored 5 goals against Ann."),
    ("How many minutes is it past noon?", "It is 3:30 minutes past noon."),
    ("How many dogs are there?", "There are 5 dogs and 3 cats."),
    ("How many dogs are there?", "There are two hundred dogs."),
    ("What is the lowest accuracy in the chart?", "The lowest accuracy in the chart is 0." + "9" * 60),
    ("Ann has 5 dogs. Bob has 2 fewer. How many dogs do they have in total?", "Bob has 3 dogs."),
    ("How many dogs does she have?", "He has 3 dogs."),
    ("How many dogs are there?", "There would be 3 dogs."),
    ("How many dogs are there?", "There were 3 dogs."),
    ("How many dogs are there?", "There are two and a half dogs."),
    ("How tall is the tree?", "The tree is 5 meters taller."),
    ("How tall is the tree?", "The tree is 5 years old."),
    ("How much did Ann pay Bob?", "Bob paid Ann $5."),
    ("How much money does Ann need?", "Ann needs $5 more."),
    ("In how many years was the sale above 5?", "In 2015 the sale was above 5."),
    ("图中有几只狗？", "图中有三四只狗。"),
    ("How many hours did Ann work on Monday?", "Ann worked 8 hours on Tuesday."),
    ("How many hours did Ann work in total on Monday and Tuesday?", "Ann worked 8 hours on Monday."),
    ("How many years after 1990 did the war end?", "The war ended 8 years before 1990."),
    ("How many students passed?", "8% of students passed."),
    ("How many more students passed than failed?", "8 more students failed than passed."),
    ("What is the price of the pen in 2015?", "The price of the pen in 2016 was $5."),
    ("What percentage of students like tea?", "95% of students do not like tea."),
    ("When did the war end?", "The war began in 1939."),
    ("How far is it from A to B?", "It is 5 km from A to C."),
    ("There are ____ apples and 3 pears.", "There are 5 apples and 4 pears."),
    ("How many cats are there?", "Three. There are four cats."),
    ("How many cats are there?", "There are 3 cats left of the tree."),
    ("How many cats are there?", "There are one in three cats."),
    ("How many legs do 3 cats have?", "A cat has 4 legs."),
    ("小红比小明多几个苹果？", "小明比小红多3个苹果。"),
    ("一共有多少人？", "一共有30多人。"),
    ("What is the value?", "The value is √5."),
    ("What is the value?", "The value is ∛8."),
    ("What is the value?", "The value is ∑ 5."),
    ("What is the value?", "The value is ¬5."),
    ("What is the value?", "The value is ∞5."),
    ("What is the value?", "The value is 5¢."),
    ("What is the value?", "The value is 5′."),
    ("What is the value?", "The value is 5 ‰ x."),
    ("What is the value?", "The value is 5!."),
    ("What is the value?", "The value is – 5."),
    ("What is the value?", "The value is –5."),
    ("What is the value?", "The value is − 5."),
    ("What is the value?", "The value is - 5."),
    ("What is the value?", "The value is 5 −."),
    ("What is the value?", "The value is √ 5."),
    ("What is the value?", "The value is 5²."),
    ("What is the value?", "The value is 5 ½."),
    ("What is the value?", "The value is 5½."),
    ("What is the value?", "The value is ±5."),
    ("What is the value?", "The value is +5."),
    ("What is the value?", "The value is > 5."),
    ("What is the value?", "The value is ≥5."),
    ("What is the value?", "The value is ≠5."),
    ("What is the value?", "The value is <5."),
    ("What is the value?", "The value is ₹5."),
    ("What is the value?", "The value is 5∘."),
    ("What is the value?", "The value is 5 ★."),
    ("What is the value?", "The value is 5 m/s."),
    ("What is the value?", "The value is 5 km / h."),
    ("What is the value?", "The value is 5…."),
    ("What is the value?", "The value is 0.333...."),
    ("What is the value?", "The value is π5."),
    ("What is the value?", "The value is 5π."),
    ("What is the value?", "The value is ∠5."),
    ("What is the value?", "The value is Δ5."),
    ("What is the value?", "The value is 5 : 3."),
    ("What is the value?", "The value is #5."),
    ("What is the value?", "The value is @5."),
    ("What is the value?", "The value is 5@."),
    ("What is the value?", "The value is 5&."),
    ("What is the value?", "The value is 5 – 6."),
    ("What is the value?", "The value is 5 ~ 6."),
    ("What is the value?", "The value is 5~6."),
    ("What is the value?", "The value is ^5."),
    ("What is the value?", "The value is !5."),
    ("What is the value?", "The value is **5**!."),
    ("What is the value?", "The value is (5."),
    ("What is the value?", "The value is 5*3."),
    ("What is the value?", "The value is x*5."),
    ("What is the value?", "The value is \\sqrt5."),
    ("What is the value?", "The value is 5i."),
    ("What is the value?", "The value is 5e3."),
    ("What is the length of AB?", "The length of AB is √13 cm."),
    (LEFT, "There are √5 balls left."),
    (LEFT, "There are √5 objects left."),
    ("The rope is ____ m long.", "The rope is √5 m long."),
    ("The rope is ____ m long.", "The rope is –5 m long."),
    ("The rope is ____ m long.", "The rope is 5! m long."),
    ("最小值是多少？", "最小值是√5。"),
    ("最小值是多少？", "最小值是.5。"),
    ("最小值是多少？", "最小值是5!"),
    ("最小值是多少？", "最小值是– 5。"),
    ("最小值是多少？", "最小值是5%。"),
    ("最小值是（  ）。", "最小值是√5。"),
    ("最小值是（  ）。", "最小值是5²。"),
    (LEFT, "It depends. Thus, there are 5 objects left."),
    (LEFT, "I disagree. Therefore, there are 5 objects left."),
]  # fmt: skip


def label(question: str, texts: tuple[str, ...], reply: str) -> str | None:
    labels = tuple("ABCDEFGH"[: len(texts)])
    found = restated_label(Response.of(reply), question, labels, texts)
    return found[0] if found else None


def value(question: str, reply: str) -> str | None:
    response = Response.of(reply)
    found = restated_value(response, question)
    return response.text[slice(*found)] if found else None


@pytest.mark.parametrize(("question", "reply", "said"), SAID)
def test_a_statement_says_yes_or_no_to_its_question(question: str, reply: str, said: str) -> None:
    assert label(question, YES_NO, reply) == {"yes": "A", "no": "B"}[said]


@pytest.mark.parametrize(("question", "reply"), UNSAID)
def test_what_is_not_the_question_as_a_statement_says_neither(question: str, reply: str) -> None:
    assert label(question, YES_NO, reply) is None


@pytest.mark.parametrize(("question", "texts", "reply", "said"), NAMED)
def test_an_option_that_takes_the_place_of_what_is_asked(
    question: str, texts: tuple[str, ...], reply: str, said: str
) -> None:
    assert label(question, texts, reply) == said


@pytest.mark.parametrize(("question", "texts", "reply"), UNNAMED)
def test_an_option_in_another_place_or_a_doubted_one_is_none(question: str, texts: tuple[str, ...], reply: str) -> None:
    assert label(question, texts, reply) is None


@pytest.mark.parametrize(("question", "reply", "said"), COUNTED)
def test_the_number_that_takes_the_place_of_what_is_asked(question: str, reply: str, said: str) -> None:
    assert value(question, reply) == said


@pytest.mark.parametrize(("question", "reply"), UNCOUNTED)
def test_a_number_in_another_place_or_a_doubted_one_is_none(question: str, reply: str) -> None:
    assert value(question, reply) is None


@pytest.mark.parametrize(
    "texts", [("no", "yes"), ("否", "是"), ("不是", "是"), ("错", "对"), ("没有", "有"), ("NO", "YES")]
)
def test_yes_and_no_are_known_by_their_texts(texts: tuple[str, str]) -> None:
    assert label(PLATE, texts, "The white plate is half full.") == "B"
    assert label(PLATE, texts, "The white plate is not half full.") == "A"


@pytest.mark.parametrize("texts", [("yes", "Yes"), ("yes", "maybe"), ("", ""), ("half", "full")])
def test_other_options_are_no_yes_and_no(texts: tuple[str, str]) -> None:
    assert label(PLATE, texts, "The white plate is half full.") is None


def test_the_place_is_where_the_statement_stands() -> None:
    response = Response.of("There is rice.\nSo the white plate is half full.\n")
    found = restated_label(response, PLATE, ("A", "B"), YES_NO)
    assert found and response.text[found[1] : found[2]] == "the white plate is half full"


def test_a_reply_that_was_stopped_is_not_read() -> None:
    response = Response.of("The white plate is half full.", truncated=True)
    assert restated_label(response, PLATE, ("A", "B"), YES_NO) is None
    assert restated_value(Response.of("There are 5 objects left.", truncated=True), LEFT) is None


PIECES = ["the white plate", " is ", "not ", "half full", ".", "?", "\n", "more ", " than ", "there are ", "5", " ____ ", "(_)",
          "how many ", "多少", "个", "是", "不", "吗", "比", "=", "$", "- ", "**", "after ", ",", "=" * 40, "9" * 60, "\\frac{"]  # fmt: skip
ANY = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PIECES), max_size=40).map("".join))


@given(reply=ANY, question=ANY, texts=st.lists(ANY, min_size=2, max_size=4))
def test_any_text_is_read_without_an_error_and_within_its_bounds(reply: str, question: str, texts: list[str]) -> None:
    response = Response.of(reply)
    labels = tuple("ABCD"[: len(texts)])
    for options in (tuple(texts), YES_NO[:2]):
        found = restated_label(response, question, labels[: len(options)], options)
        assert found is None or (found[0] in labels and 0 <= found[1] < found[2] <= len(response.text))
    place = restated_value(response, question)
    assert place is None or 0 <= place[0] < place[1] <= len(response.text)
